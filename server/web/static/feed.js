// A stream of events that comes back: browsers give up where a proxy answers for a server that is away.
//
// A hidden page holds no connection: a browser has six to a host over HTTP/1.1, and further pages would wait for one.

const AGAIN_MS = 3000;

export class Feed {
  // Calls take(kind, event) for each event of one of the kinds, and back() when the connection stands again.
  constructor(address, kinds, take, back, { whileHidden = false } = {}) {
    this.address = address;
    this.kinds = kinds;
    this.take = take;
    this.back = back;
    this.last = "";
    this.isBehind = false;
    this.follow = () => (document.hidden && !whileHidden ? this.pause() : this.open());
    document.addEventListener("visibilitychange", this.follow);
    this.follow();
  }

  open() {
    if (this.source && this.source.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.timer);
    const query = this.last ? `?${new URLSearchParams({ after: this.last })}` : "";
    this.source = new EventSource(this.address + query);
    this.source.addEventListener("open", () => this.resume());
    this.source.addEventListener("error", () => this.lose());
    for (const kind of this.kinds) {
      this.source.addEventListener(kind, (event) => {
        this.last = event.lastEventId || this.last;
        this.take(kind, event);
      });
    }
  }

  lose() {
    this.isBehind = true;
    document.getElementById("connection").hidden = false;
    if (this.source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), AGAIN_MS);
  }

  resume() {
    document.getElementById("connection").hidden = true;
    if (this.isBehind) this.back();
    this.isBehind = false;
  }

  pause() {
    this.isBehind = true;
    clearTimeout(this.timer);
    this.source?.close();
    document.getElementById("connection").hidden = true;
  }

  close() {
    document.removeEventListener("visibilitychange", this.follow);
    this.pause();
  }
}
