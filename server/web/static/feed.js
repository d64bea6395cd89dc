// A stream of events that comes back: browsers give up where a proxy answers for a server that is away.

const AGAIN_MS = 3000;

export class Feed {
  // Calls take(kind, event) for each event of one of the kinds, and back() when the connection stands again.
  constructor(address, kinds, take, back) {
    this.address = address;
    this.kinds = kinds;
    this.take = take;
    this.back = back;
    this.last = "";
    this.isLost = false;
    this.open();
  }

  open() {
    const query = this.last ? `?${new URLSearchParams({ after: this.last })}` : "";
    this.source = new EventSource(this.address + query);
    this.source.addEventListener("open", () => this.tell(false));
    this.source.addEventListener("error", () => this.lose());
    for (const kind of this.kinds) {
      this.source.addEventListener(kind, (event) => {
        this.last = event.lastEventId || this.last;
        this.take(kind, event);
      });
    }
  }

  lose() {
    this.tell(true);
    if (this.source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), AGAIN_MS);
  }

  tell(isLost) {
    const wasLost = this.isLost;
    this.isLost = isLost;
    document.getElementById("connection").hidden = !isLost;
    if (wasLost && !isLost) this.back();
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
    document.getElementById("connection").hidden = true;
  }
}
