// When an endpoint is left alone for a while (docs/routing.md#circuits). Failures count by organization, so that what one
// of them provokes changes nothing for the others: their prompts may be what the provider fails on.

export type Circuit = 'closed' | 'open' | 'half_open';

/** Whose call it is, and by which API: a fault of one API's path says nothing of the others. */
export interface Viewer {
  readonly org_id: string;
  readonly path: string;
}

const BUCKET_MS = 5_000;
const BUCKETS = 6;
/** What is looked back on. */
const WINDOW_MS = BUCKET_MS * BUCKETS;
const FAILURES_MIN = 5;
/** Until a probe may pass. */
const OPEN_MS = 15_000;
/** Most organizations that an endpoint's state is kept for one by one; of more, those that came last. */
const ORGS_MAX = 256;
/** The path of faults that any path meets. */
const EVERY = '';

/** Open since a failure, until a success. */
class Switch {
  opened_at: number | null = null;
  private probe_until = 0;

  state(now_ms: number): Circuit {
    if (this.opened_at === null) return 'closed';
    return this.closedFor(now_ms) > 0 ? 'open' : 'half_open';
  }

  /** Milliseconds until a probe may pass. */
  closedFor(now_ms: number): number {
    if (this.opened_at === null) return 0;
    return Math.max(0, Math.max(this.opened_at + OPEN_MS, this.probe_until) - now_ms);
  }

  open(now_ms: number): void {
    this.opened_at = now_ms;
    this.probe_until = 0;
  }

  close(): void {
    this.opened_at = null;
    this.probe_until = 0;
  }

  probe(now_ms: number): void {
    if (this.opened_at !== null) this.probe_until = now_ms + OPEN_MS;
  }

  release(): void {
    this.probe_until = 0;
  }
}

/** What one organization met on one path. */
class Own {
  readonly switch = new Switch();
  private readonly ok = new Uint32Array(BUCKETS);
  private readonly bad = new Uint32Array(BUCKETS);
  /** Number of the bucket that each place holds; an older number is an empty bucket. */
  private readonly stamp = new Float64Array(BUCKETS).fill(-1);

  count(kind: 'ok' | 'bad', now_ms: number): void {
    const bucket = Math.floor(now_ms / BUCKET_MS);
    const at = bucket % BUCKETS;
    if (this.stamp[at] !== bucket) {
      this.stamp[at] = bucket;
      this.ok[at] = 0;
      this.bad[at] = 0;
    }
    this[kind][at]! += 1;
  }

  /** At least five failures that are more than half of the last 30 s. */
  fails(now_ms: number): boolean {
    const last = Math.floor(now_ms / BUCKET_MS);
    let ok = 0;
    let bad = 0;
    for (let at = 0; at < BUCKETS; at++) {
      if ((this.stamp[at] as number) <= last - BUCKETS) continue;
      ok += this.ok[at] as number;
      bad += this.bad[at] as number;
    }
    return bad >= FAILURES_MIN && bad > ok;
  }
}

/** One path of an endpoint. */
class Path {
  readonly shared = new Switch();
  /** Who called longest ago comes first. */
  private readonly orgs = new Map<string, Own>();
  private latest = '';

  own(org_id: string): Own | undefined {
    return this.orgs.get(org_id);
  }

  private of(org_id: string): Own {
    let own = this.orgs.get(org_id);
    if (own !== undefined && this.latest === org_id) return own;
    if (own === undefined) own = new Own();
    else this.orgs.delete(org_id);
    this.orgs.set(org_id, own);
    this.latest = org_id;
    if (this.orgs.size > ORGS_MAX) this.orgs.delete(this.orgs.keys().next().value as string);
    return own;
  }

  succeeded(org_id: string, now_ms: number): void {
    const own = this.of(org_id);
    own.count('ok', now_ms);
    // A success under way when the circuit opened proves as much as a probe does.
    own.switch.close();
    this.shared.close();
  }

  failed(org_id: string, now_ms: number): void {
    const own = this.of(org_id);
    own.count('bad', now_ms);
    const fails = own.switch.opened_at !== null || own.fails(now_ms);
    if (fails) own.switch.open(now_ms);
    if (fails && !this.othersFail(own, now_ms)) this.shared.close();
    else if (fails || this.shared.opened_at !== null) this.shared.open(now_ms);
  }

  private othersFail(own: Own, now_ms: number): boolean {
    for (const other of this.orgs.values()) {
      const { opened_at } = other.switch;
      if (other !== own && opened_at !== null && opened_at > now_ms - WINDOW_MS) return true;
    }
    return false;
  }

  /** For whom it is open: everybody, or so many organizations that met failures themselves. */
  openFor(): { readonly everybody: boolean; readonly orgs: number } {
    let orgs = 0;
    for (const { switch: own } of this.orgs.values()) if (own.opened_at !== null) orgs++;
    return { everybody: this.shared.opened_at !== null, orgs };
  }

  get isOpen(): boolean {
    if (this.shared.opened_at !== null) return true;
    for (const { switch: own } of this.orgs.values()) if (own.opened_at !== null) return true;
    return false;
  }
}

/**
 * The circuits of one endpoint. It is left alone by an organization that met five failures that were more than half of
 * its last 30 s, and by everybody when a second organization met that too. After 15 s one probe passes.
 */
export class Circuits {
  private readonly paths = new Map<string, Path>([[EVERY, new Path()]]);
  /** Nothing is open for anybody, so that nobody's state need be looked at. */
  private calm = true;

  /** `shape`: the fault may lie in how this path asks, as protocol faults do; it counts for the path alone. */
  failed({ org_id, path }: Viewer, now_ms: number, { shape }: { readonly shape: boolean }): void {
    const name = shape ? path : EVERY;
    let found = this.paths.get(name);
    if (found === undefined) {
      found = new Path();
      this.paths.set(name, found);
    }
    found.failed(org_id, now_ms);
    this.calm &&= !found.isOpen;
  }

  succeeded({ org_id, path }: Viewer, now_ms: number): void {
    this.paths.get(EVERY)?.succeeded(org_id, now_ms);
    if (path !== EVERY) this.paths.get(path)?.succeeded(org_id, now_ms);
    if (!this.calm) this.calm = ![...this.paths.values()].some((one) => one.isOpen);
  }

  /** It answered, with a refusal that says nothing of it: another call may probe. */
  refused(viewer: Viewer): void {
    for (const one of this.switches(viewer)) one.release();
  }

  probe(viewer: Viewer, now_ms: number): void {
    for (const one of this.switches(viewer)) one.probe(now_ms);
  }

  state(viewer: Viewer, now_ms: number): Circuit {
    if (this.calm) return 'closed';
    let state: Circuit = 'closed';
    for (const one of this.switches(viewer)) {
      const own = one.state(now_ms);
      if (own === 'open') return 'open';
      if (own === 'half_open') state = own;
    }
    return state;
  }

  /** Milliseconds until a probe of `viewer` may pass; 0 where none need. */
  closedFor(viewer: Viewer, now_ms: number): number {
    if (this.calm) return 0;
    return Math.max(0, ...[...this.switches(viewer)].map((one) => one.closedFor(now_ms)));
  }

  /**
   * For whom a path is open or half open: `everybody`, or that many organizations, at the path where most met failures.
   */
  openFor(): { readonly everybody: boolean; readonly orgs: number } {
    let everybody = false;
    let orgs = 0;
    if (this.calm) return { everybody, orgs };
    for (const path of this.paths.values()) {
      const found = path.openFor();
      everybody ||= found.everybody;
      orgs = Math.max(orgs, found.orgs);
    }
    return { everybody, orgs };
  }

  get isCalm(): boolean {
    return this.calm;
  }

  private *switches({ org_id, path }: Viewer): Generator<Switch> {
    for (const name of path === EVERY ? [EVERY] : [EVERY, path]) {
      const found = this.paths.get(name);
      if (found === undefined) continue;
      yield found.shared;
      const own = found.own(org_id);
      if (own !== undefined) yield own.switch;
    }
  }
}
