// Adds the index to events that do not say which item they belong to, as some servers send them. Clients index by it,
// and output without an item would not be counted: each event gets the index that the decoder would give it.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { changeMembers, scanObject, splice } from '../../../wire/scan.ts';
import { DELTAS, DONES } from './open.ts';

const ADDED = 'response.output_item.added';
const DONE = 'response.output_item.done';
const ABOUT_ITEMS: ReadonlySet<string> = new Set([
  ADDED,
  DONE,
  'response.content_part.added',
  'response.content_part.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.output_text.annotation.added',
  ...Object.keys(DELTAS),
  ...Object.keys(DONES),
]);

/**
 * Ids that are remembered of items that are not done; a stream with more of them is not an answer, and its relay ends
 * it.
 */
const IDS_MAX = 512;

/** The indexes of the items of one stream. */
export class Places {
  readonly #ids = new Map<string, number>();
  /** The open item. */
  #last: number | null = null;
  #next = 0;

  /** `text` of an event with the place of its item, which `data` is given as well; as it is where it needs none. */
  fill(type: string, data: JsonObject, text: string): string {
    if (!ABOUT_ITEMS.has(type) && typeof data['item_id'] !== 'string') return text;
    const own = data['output_index'];
    const id = idOf(data);
    const place = typeof own === 'number' ? own : this.#placeOf(type, id);
    this.#note(type, id, place);
    if (typeof own === 'number') return text;
    data['output_index'] = place;
    const body = Buffer.from(text);
    const top = scanObject(body);
    if (top === null) return JSON.stringify(data);
    return splice(body, changeMembers(top, { output_index: String(place) })).toString('utf8');
  }

  /**
   * The next index when an item begins; otherwise that of the open item with its id, of the open one, or the next.
   */
  #placeOf(type: string, id: string): number {
    if (type === ADDED) return this.#next;
    return this.#ids.get(id) ?? this.#last ?? this.#next;
  }

  #note(type: string, id: string, place: number): void {
    if (type === DONE) {
      this.#ids.delete(id);
      this.#last = null;
    } else {
      if (type === ADDED && id !== '' && this.#ids.size < IDS_MAX) this.#ids.set(id, place);
      this.#last = place;
    }
    this.#next = Math.max(this.#next, place + 1);
  }
}

function idOf(data: JsonObject): string {
  const id = isObject(data['item']) ? data['item']['id'] : data['item_id'];
  return typeof id === 'string' ? id : '';
}

/** Index of the item that an event belongs to. */
export function indexOf(data: JsonObject): number {
  const { output_index } = data;
  return typeof output_index === 'number' ? output_index : 0;
}
