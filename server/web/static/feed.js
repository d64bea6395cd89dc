// A stream of events that comes back: browsers give up where a proxy answers for a server that is away.
//
// A hidden page holds no connection: a browser has six to a host over HTTP/1.1, and further pages would wait for one.
// Neither does a page that a browser keeps for the way back: WebKit takes seconds to go on with one. It also opens again
// what was closed just before; what comes of a source that is not ours any more is left out.

const AGAIN_MS = 3000;
const WHEN = [[document, "visibilitychange"], [window, "pagehide"], [window, "pageshow"]];

export class Feed {
  // Calls take(kind, event) for each event of one of the kinds, and back() when the connection stands again.
  constructor(address, kinds, take, back, { whileHidden = false } = {}) {
    this.address = address;
    this.kinds = kinds;
    this.take = take;
    this.back = back;
    this.last = "";
    this.isBehind = false;
    this.isLeft = false;
    this.follow = (event) => {
      if (["pagehide", "pageshow"].includes(event?.type)) this.isLeft = event.type === "pagehide";
      if (this.isLeft || (document.hidden && !whileHidden)) this.pause();
      else this.open();
    };
    for (const [place, kind] of WHEN) place.addEventListener(kind, this.follow);
    this.follow();
  }

  open() {
    if (this.source && this.source.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.timer);
    const query = this.last ? `?${new URLSearchParams({ after: this.last })}` : "";
    const source = new EventSource(this.address + query);
    const listen = (kind, heard) => source.addEventListener(kind, (event) => (source === this.source ? heard(event) : source.close()));
    this.source = source;
    listen("open", () => this.resume());
    listen("error", () => this.lose());
    for (const kind of this.kinds) {
      listen(kind, (event) => {
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
    this.source = null;
    document.getElementById("connection").hidden = true;
  }

  close() {
    for (const [place, kind] of WHEN) place.removeEventListener(kind, this.follow);
    this.pause();
  }
}
