// What staff do over the admin program meanwhile: decide on payments that differ, grant credit, and end what a loss keeps an
// organization from.
import type { Draw } from '../crash/draw.ts';
import { ask } from './ask.ts';
import type { World } from './world.ts';

const LOOK = `query {
  topupReviews { id }
  disputes(first: 50, waiting: true) { nodes { id status } }
}`;
const ACTS = {
  accept: `mutation ($input: AcceptTopupInput!) { done: acceptTopup(input: $input) { __typename } }`,
  refuse: `mutation ($input: RefuseTopupInput!) { done: refuseTopup(input: $input) { __typename } }`,
  paid: `mutation ($input: PayDisputeInput!) { done: payDispute(input: $input) { __typename } }`,
  grant: `mutation ($input: GrantCreditInput!) { done: grantCredit(input: $input) { __typename } }`,
} as const;

interface Look {
  readonly topupReviews: readonly { readonly id: string }[];
  readonly disputes: { readonly nodes: readonly { readonly id: string; readonly status: string }[] };
}

export class StaffActs {
  /** Grants that were answered: their organization and amount, by their reference. */
  readonly granted = new Map<string, { readonly org_id: string; readonly amount_micro: number }>();
  readonly #world: World;
  readonly #draw: Draw;
  #serial = 0;

  constructor(world: World, draw: Draw) {
    this.#world = world;
    this.#draw = draw;
  }

  async #ask<T>(query: string, variables: object = {}): Promise<T> {
    const { staff_url } = this.#world;
    const token = this.#world.staffToken();
    const body = { query, variables };
    const answer = await ask(() => staff_url, { method: 'POST', path: '/graphql', token, body });
    return answer.body['data'] as T;
  }

  /** An act whose answer was lost is repeated, and finds itself done. */
  async #act(what: keyof typeof ACTS, input: object): Promise<void> {
    const { done } = await this.#ask<{ done: { __typename: string } }>(ACTS[what], { input });
    const wanted = what === 'grant' ? ['Payload'] : ['Payload', 'ConflictError'];
    if (!wanted.some((ending) => done.__typename.endsWith(ending)))
      throw new Error(`${what} of ${JSON.stringify(input)}: ${done.__typename}`);
  }

  async act(): Promise<void> {
    if (this.#draw.unit() < 0.4) return this.#grant();
    const { topupReviews, disputes } = await this.#ask<Look>(LOOK);
    for (const { id } of topupReviews)
      await this.#act(this.#draw.pick(['accept', 'refuse']), { id, reason: 'as it was paid' });
    for (const { id, status } of disputes.nodes)
      if (status === 'lost') await this.#act('paid', { id, reason: 'by transfer' });
  }

  async #grant(): Promise<void> {
    const { org_id } = this.#draw.pick(this.#world.customers);
    const amount_micro = this.#draw.int(5_000_000, 60_000_000);
    const reference = `crash test ${++this.#serial}`;
    const about = { orgId: org_id, amountMicro: String(amount_micro), reference };
    await this.#act('grant', { ...about, reason: 'for the trouble', environment: 'LIVE' });
    this.granted.set(reference, { org_id, amount_micro });
  }
}
