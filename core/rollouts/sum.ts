// Compared calls summed up: how many move, from where to where, and what that costs. Pure.
import type { Compared } from './compare.ts';

/** An endpoint of a move; null: nobody, the call would be refused. */
type Place = Compared['before']['endpoint'];

export interface Move {
  readonly model: string;
  readonly from: Place;
  readonly to: Place;
  calls: number;
  before_micro_usd: number;
  after_micro_usd: number;
}

export interface Sum {
  readonly compared: number;
  readonly moved: number;
  /** Of `moved`: had an endpoint before, and would be refused. */
  readonly newly_refused: number;
  readonly before_micro_usd: number;
  readonly after_micro_usd: number;
  /** Most calls first. */
  readonly moves: readonly Move[];
}

/** `compared` as sums; what both refuse costs nothing and does not move. */
export function sumUp(compared: readonly Compared[]): Sum {
  const moves = new Map<string, Move>();
  let before_micro_usd = 0;
  let after_micro_usd = 0;
  for (const { model, before, after } of compared) {
    before_micro_usd += before.cost_micro;
    after_micro_usd += after.cost_micro;
    const [from, to] = [before.endpoint, after.endpoint];
    if (from?.id === to?.id) continue;
    const key = `${model} ${from?.id} ${to?.id}`;
    const move = moves.get(key) ?? { model, from, to, calls: 0, before_micro_usd: 0, after_micro_usd: 0 };
    move.calls += 1;
    move.before_micro_usd += before.cost_micro;
    move.after_micro_usd += after.cost_micro;
    moves.set(key, move);
  }
  const all = [...moves.values()].toSorted((a, b) => b.calls - a.calls);
  const count = (some: readonly Move[]) => some.reduce((sum, { calls }) => sum + calls, 0);
  return {
    compared: compared.length,
    moved: count(all),
    newly_refused: count(all.filter(({ to }) => to === null)),
    ...{ before_micro_usd, after_micro_usd, moves: all },
  };
}
