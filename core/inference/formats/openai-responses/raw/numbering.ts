// Sequence numbers and indexes of events as the caller counts them, when items of the answer are left out.
import { changeMembers, memberOf, scanObject, splice } from '../../../wire/scan.ts';
import { eventOf } from '../../../wire/sse-lines.ts';

export class Numbering {
  /** The number of the next event, if the gateway writes it. */
  next = 0;
  readonly #excludes: boolean;
  /** Indexes of reasoning items that the caller does not see; later indexes are reduced accordingly. */
  readonly #hidden: number[] = [];

  constructor(excludes: boolean) {
    this.#excludes = excludes;
  }

  hide(place: number): void {
    this.#hidden.push(place);
  }

  isHidden(place: number): boolean {
    return this.#hidden.includes(place);
  }

  /** The index of an item among those that the caller sees. */
  shown(place: number): number {
    return place - this.#hidden.filter((hidden) => hidden < place).length;
  }

  /** One event; when items are left out, with the number and index that the caller counts. */
  event(type: string, text: Buffer): Buffer {
    if (!this.#excludes) return eventOf(type, text);
    const top = scanObject(text);
    if (top === null) return eventOf(type, text);
    const changes: Record<string, string> = {};
    if (memberOf(top, 'sequence_number') !== undefined) changes['sequence_number'] = String(this.next++);
    const place = memberOf(top, 'output_index');
    const index = Number(place && text.toString('latin1', place.from, place.to));
    if (Number.isInteger(index)) changes['output_index'] = String(this.shown(index));
    return eventOf(type, splice(text, changeMembers(top, changes)));
  }

  /** An event made by the gateway. */
  own(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.next++},${members}}\n\n`;
  }
}
