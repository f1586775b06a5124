// The order of tool calls in a stream. The canonical form, and the clients of the chat dialect, expect one call after
// the other, but some servers omit `index`, repeat it, or write two calls at once. A call gives way to the next when
// its arguments are complete JSON text; until then the later ones wait.
import { ProtocolFault } from '../../../wire/fault.ts';

/** Whether the text so far is one complete JSON value; only brackets and strings are examined. */
class JsonProgress {
  #depth = 0;
  #in_string = false;
  #escaped = false;
  #any = false;

  feed(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (this.#in_string) {
        if (this.#escaped) this.#escaped = false;
        else if (c === 92) this.#escaped = true;
        else if (c === 34) this.#in_string = false;
      } else if (c === 34) {
        this.#in_string = true;
        this.#any = true;
      } else if (c === 123 || c === 91) {
        this.#depth++;
        this.#any = true;
      } else if (c === 125 || c === 93) {
        this.#depth--;
      } else if (c > 32) {
        this.#any = true;
      }
    }
  }

  get complete(): boolean {
    return this.#any && this.#depth <= 0 && !this.#in_string;
  }
}

/** One tool call of one candidate. */
export interface Call {
  /** Position among the calls, from 0. */
  slot: number;
  id: string;
  name: string;
  kind: 'function' | 'custom';
  signature: string | null;
}

/** What a delta says of a call; absent members are undefined. */
export interface CallDelta {
  index: number | undefined;
  id: string | undefined;
  name: string | undefined;
  kind: 'function' | 'custom';
  text: string;
  signature: string | null;
}

export type CallStep =
  | { step: 'open'; call: Call }
  | { step: 'text'; call: Call; text: string }
  | { step: 'close'; call: Call };

interface Entry extends Call {
  index: number | undefined;
  state: 'waiting' | 'open' | 'closed';
  held: string;
  progress: JsonProgress;
}

/** Limit on what one answer may keep waiting: a provider that opens calls without end is not answering. */
const CALLS_MAX = 512;
/** Characters that may wait behind an incomplete call. */
const WAITING_MAX = 16 * 1024 * 1024;

export class CallSequence {
  readonly #entries: Entry[] = [];
  /** Slot of the open call, or of the next one to open. */
  #at = 0;
  /** Characters that have ever waited; few honest answers make any wait. */
  #waiting_size = 0;
  /** Slot of the call that the last delta belonged to. */
  taken = -1;

  /** How many calls there are. */
  get length(): number {
    return this.#entries.length;
  }

  /** Whether a call is waiting for an earlier one to end. */
  get waiting(): boolean {
    return this.#entries.some((entry) => entry.state === 'waiting');
  }

  /**
   * The steps that `delta` causes, in order; empty while it waits. @throws ProtocolFault for text of a closed call.
   */
  take(delta: CallDelta): CallStep[] {
    const entry = this.#find(delta) ?? this.#add(delta);
    this.taken = entry.slot;
    if (entry.state === 'closed') {
      if (delta.text.trim() !== '')
        throw new ProtocolFault('tool call arguments after the call was complete');
      return [];
    }
    const steps: CallStep[] = [];
    entry.held += delta.text;
    if (entry.slot > this.#at) {
      this.#waiting_size += delta.text.length;
      if (this.#waiting_size > WAITING_MAX) throw new ProtocolFault('too much waits for a tool call to end');
    }
    if (entry.kind === 'function') entry.progress.feed(delta.text);
    if (delta.signature !== null) entry.signature = delta.signature;
    this.#advance(entry, steps);
    return steps;
  }

  /**
   * Takes further text of call `slot` when it is the open one and none waits, so that it goes on as it came; false
   * (and nothing taken) otherwise.
   */
  more(slot: number, text: string): boolean {
    const entry = this.#entries[slot];
    if (entry?.state !== 'open' || slot !== this.#at || this.waiting) return false;
    if (entry.kind === 'function') entry.progress.feed(text);
    return true;
  }

  /** The steps that end every call: the turn is over, or text follows. */
  flush(): CallStep[] {
    const steps: CallStep[] = [];
    while (this.#at < this.#entries.length) {
      const entry = this.#entries[this.#at]!;
      this.#emit(entry, steps);
      entry.state = 'closed';
      steps.push({ step: 'close', call: entry });
      this.#at++;
    }
    return steps;
  }

  #advance(target: Entry, steps: CallStep[]): void {
    while (this.#at < target.slot) {
      const current = this.#entries[this.#at]!;
      this.#emit(current, steps);
      if (!current.progress.complete) return;
      current.state = 'closed';
      steps.push({ step: 'close', call: current });
      this.#at++;
    }
    if (this.#at === target.slot) this.#emit(target, steps);
  }

  #emit(entry: Entry, steps: CallStep[]): void {
    if (entry.state === 'waiting') {
      entry.state = 'open';
      steps.push({ step: 'open', call: entry });
    }
    if (entry.held !== '') {
      steps.push({ step: 'text', call: entry, text: entry.held });
      entry.held = '';
    }
  }

  #find({ index, id, name }: CallDelta): Entry | undefined {
    const fresh = id !== undefined && id !== '' && name !== undefined && name !== '';
    if (id !== undefined && id !== '') {
      const same = this.#entries.find((entry) => entry.id === id);
      // The same id with the same index, or without one, is the same call, whatever else is repeated.
      if (same !== undefined && (index === undefined || same.index === index)) return same;
    }
    if (index !== undefined) {
      const same = this.#entries.findLast((entry) => entry.index === index);
      // A second complete head with a used index: a server that gives every call the number 0.
      if (same !== undefined && fresh && same.id !== '' && same.id !== id) return undefined;
      return same;
    }
    return name !== undefined && name !== '' ? undefined : this.#entries.at(-1);
  }

  #add({ index, id, name, kind, signature }: CallDelta): Entry {
    if (this.#entries.length >= CALLS_MAX) throw new ProtocolFault(`more than ${CALLS_MAX} tool calls`);
    const slot = this.#entries.length;
    const head = { slot, index, id: id ?? '', name: name ?? '', kind, signature };
    const entry: Entry = { ...head, state: 'waiting', held: '', progress: new JsonProgress() };
    this.#entries.push(entry);
    return entry;
  }
}
