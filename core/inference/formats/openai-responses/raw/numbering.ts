// Numbers and places of events as the caller counts them, where items of the answer are left out.
import { changeMembers, memberOf, scanObject, splice } from '../../../wire/scan.ts';
import { eventOf } from '../../../wire/sse-lines.ts';

export class Numbering {
  /** The number of the next event, if it were ours. */
  next = 0;
  readonly #excludes: boolean;
  /** Places of reasoning items that the caller does not see; the others move up. */
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

  /** The place of an item among those that the caller sees. */
  shown(place: number): number {
    return place - this.#hidden.filter((hidden) => hidden < place).length;
  }

  /** One event; where items are left out, with number and place as the caller counts them. */
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

  /** An event of our own. */
  own(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.next++},${members}}\n\n`;
  }
}
