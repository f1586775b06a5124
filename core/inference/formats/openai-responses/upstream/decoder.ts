// Reads the event stream of a response into canonical events. A server may write several items at once; the canonical
// form has one after the other, so events of a later item wait until the one before is done.

import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { StreamDecoder } from '../../../canonical/contract.ts';
import { guarded } from '../../../canonical/guarded.ts';
import type { CanonicalEvent, UpstreamFault } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { type SseEvent, SseReader } from '../../../wire/sse.ts';
import { countSearches, isSearch, nonEmpty, position } from '../words/parts.ts';
import { responseOf, stopOf } from '../words/stop.ts';
import { readUsage } from '../words/usage.ts';
import { faultIn, responseFault, TRUNCATED } from './classify.ts';
import { type Emit, Item } from './item.ts';

/** Limit on what one answer may keep waiting: a provider that opens items without end is not answering. */
const ITEMS_MAX = 512;
/** Characters that may wait behind an item that is not done. */
const WAITING_MAX = 16 * 1024 * 1024;

/** Events of an item, and the item that they imply when none was added. */
const impliedBy: Readonly<Record<string, string>> = {
  'response.content_part.added': 'message',
  'response.content_part.done': 'message',
  'response.output_text.delta': 'message',
  'response.output_text.done': 'message',
  'response.output_text.annotation.added': 'message',
  'response.refusal.delta': 'message',
  'response.refusal.done': 'message',
  'response.reasoning_summary_part.added': 'reasoning',
  'response.reasoning_summary_part.done': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_summary_text.done': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.reasoning_text.done': 'reasoning',
  'response.function_call_arguments.delta': 'function_call',
  'response.function_call_arguments.done': 'function_call',
  'response.custom_tool_call_input.delta': 'custom_tool_call',
  'response.custom_tool_call_input.done': 'custom_tool_call',
};

interface Waiting {
  item: Item;
  events: { event: JsonObject; size: number }[];
}

export class ResponsesDecoder implements StreamDecoder {
  readonly #flags: readonly string[];
  readonly #reader = new SseReader();
  #events: CanonicalEvent[] = [];
  readonly #emit: Emit;
  #started = false;
  #over = false;
  #parts = 0;
  /** Items that are not done, in order; the first one is being emitted, the others wait. */
  readonly #open: Waiting[] = [];
  #items = 0;
  /** Indexes of items that have ended: later events about them are ignored. */
  readonly #ended = new Set<number>();
  #waiting_size = 0;
  #searches = 0;
  readonly #seen = { refusal: false, calls: false };

  constructor(flags: readonly string[]) {
    this.#flags = flags;
    this.#emit = {
      event: (event) => this.#events.push(event),
      next: () => this.#parts++,
      seen: this.#seen,
    };
  }

  push(bytes: Buffer): CanonicalEvent[] {
    return this.#run(() => {
      for (const event of this.#reader.push(bytes)) this.#take(event, false);
    });
  }

  end(): CanonicalEvent[] {
    return this.#run(() => {
      for (const event of this.#reader.end()) this.#take(event, true);
      if (this.#over) return;
      this.#finishItems();
      this.#fail({ ...TRUNCATED });
    });
  }

  /** Events of a whole response. */
  whole(response: JsonObject): CanonicalEvent[] {
    return this.#run(() => {
      this.#start(response);
      this.#terminal(response);
    });
  }

  #run(step: () => void): CanonicalEvent[] {
    this.#events = [];
    if (this.#over) return this.#events;
    guarded(step, (fault) => this.#fail(fault));
    return this.#events;
  }

  #fail(fault: UpstreamFault): void {
    this.#over = true;
    this.#events.push({ type: 'error', fault });
  }

  #take({ event: name, data }: SseEvent, last: boolean): void {
    // An end mark of chat is not an event of a response; a stream with nothing else was cut off.
    if (this.#over || data === '[DONE]' || data === '') return;
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      // Without its closing blank line the event was cut off; it is not malformed.
      if (!last) throw new ProtocolFault('an event is not JSON');
      return;
    }
    if (!isObject(event)) throw new ProtocolFault('an event is not an object');
    const type = nonEmpty(event['type']) ?? name ?? '';
    const { error } = event;
    if (type === 'error' || (error !== undefined && error !== null)) {
      this.#fail(responseFault(event));
      return;
    }
    this.#event(type, event, data.length);
  }

  #event(type: string, event: JsonObject, size: number): void {
    const implied = impliedBy[type];
    if (implied !== undefined) {
      if (this.#hasEnded(event)) return;
      this.#step(this.#itemOf(event) ?? this.#imply(event, implied), type, event, size);
      return;
    }
    switch (type) {
      case 'response.output_item.added':
        this.#added(event);
        return;
      case 'response.output_item.done':
        if (this.#hasEnded(event)) return;
        if (isSearch(event['item'])) this.#searches++;
        this.#step(this.#itemOf(event) ?? this.#add(event), type, event, size);
        return;
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        if (isObject(event['response'])) this.#start(event['response']);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#terminal(responseOf(type, event));
        return;
      default:
        // Progress of server tools, and events of later versions, add nothing to their item.
        return;
    }
  }

  #start(response: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    const model = nonEmpty(response['model']);
    const id = nonEmpty(response['id']);
    const tier = nonEmpty(response['service_tier']);
    this.#events.push({
      type: 'start',
      ...(model === null ? {} : { upstream_model: model }),
      ...(id === null ? {} : { upstream_id: id }),
      ...(tier === null ? {} : { service_tier: tier }),
    });
  }

  /** The open item that `event` belongs to: by its index, else by its id, else the one being emitted. */
  #itemOf(event: JsonObject): Waiting | undefined {
    const at = position(event['output_index']);
    if (at !== null) return this.#open.find(({ item }) => item.index === at);
    const id = nonEmpty(event['item_id']) ?? (isObject(event['item']) ? nonEmpty(event['item']['id']) : null);
    const same = id === null ? undefined : this.#open.find(({ item }) => item.wire['id'] === id);
    return same ?? this.#open[0];
  }

  #hasEnded(event: JsonObject): boolean {
    const at = position(event['output_index']);
    return at !== null && this.#ended.has(at);
  }

  #added(event: JsonObject): void {
    if (!isObject(event['item'])) throw new ProtocolFault('an item is not an object');
    const at = position(event['output_index']);
    // Reported twice: what is known of it stays.
    if (at !== null && (this.#ended.has(at) || this.#open.some(({ item }) => item.index === at))) return;
    // A server that never says that an item is done has ended its last text before it begins the next item.
    while (this.#open[0]?.item.settled === true) this.#finish(this.#open[0]);
    this.#add(event);
  }

  #add(event: JsonObject): Waiting {
    if (this.#items++ >= ITEMS_MAX) throw new ProtocolFault(`more than ${ITEMS_MAX} items`);
    const wire = isObject(event['item']) ? event['item'] : {};
    const item = new Item(position(event['output_index']) ?? this.#items - 1, wire, this.#emit);
    const added: Waiting = { item, events: [] };
    this.#open.push(added);
    if (this.#open[0] === added) item.begin();
    return added;
  }

  #imply(event: JsonObject, type: string): Waiting {
    return this.#add({ ...event, item: { type, id: event['item_id'] } });
  }

  #step(target: Waiting, type: string, event: JsonObject, size: number): void {
    if (target === this.#open[0]) {
      target.item.take(type, event);
      if (target.item.done) this.#finish(target);
      return;
    }
    this.#waiting_size += size;
    if (this.#waiting_size > WAITING_MAX) throw new ProtocolFault('too much waits for an item to end');
    target.events.push({ event: { ...event, type }, size });
  }

  /** Ends the item being emitted and emits what waited behind it. */
  #finish(front: Waiting): void {
    front.item.close();
    this.#open.shift();
    this.#ended.add(front.item.index);
    const next = this.#open[0];
    if (next === undefined) return;
    next.item.begin();
    for (const { event, size } of next.events) {
      this.#waiting_size -= size;
      next.item.take(event['type'] as string, event);
    }
    next.events = [];
    if (next.item.done) this.#finish(next);
  }

  #finishItems(): void {
    for (let front = this.#open[0]; front !== undefined; front = this.#open[0]) this.#finish(front);
  }

  #terminal(response: JsonObject): void {
    this.#start(response);
    const fault = faultIn(response);
    this.#finishItems();
    if (fault !== null) return this.#fail(fault);
    // Some servers send everything only in the last event.
    if (this.#items === 0) this.#wholeItems(response['output']);
    const stop = stopOf(response, this.#seen);
    if (stop === null)
      throw new ProtocolFault(`a response ended with status '${String(response['status'])}'`);
    this.#over = true;
    this.#events.push({ type: 'stop', candidate: 0, stop });
    // Servers may leave the items out of the last event.
    const searches = Math.max(this.#searches, countSearches(response['output']));
    const usage = readUsage(response['usage'], this.#flags, searches);
    const tier = nonEmpty(response['service_tier']);
    if (usage !== null) {
      this.#events.push({ type: 'usage', usage, ...(tier === null ? {} : { service_tier: tier }) });
    }
    this.#events.push({ type: 'finish' });
  }

  #wholeItems(output: unknown): void {
    if (!Array.isArray(output)) return;
    output.forEach((item, output_index) => {
      if (!isObject(item)) throw new ProtocolFault('an item is not an object');
      const event = { output_index, item };
      this.#step(this.#add(event), 'response.output_item.done', event, 0);
    });
  }
}
