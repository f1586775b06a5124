// Which deliveries of an endpoint have come or moved since one looked last: what a page that shows its log listens to. A look
// is one statement over the newest deliveries and those that are under way, and reads whole only what has moved.
import type { Context } from '../kernel/index.ts';
import { numbersOf } from './delivery-number.ts';
import { type DeliveryState, listDeliveryStates, readDeliveries } from './delivery-store.ts';
import { getWebhook } from './find.ts';
import { type DeliveryView, viewDelivery } from './schema.ts';
import { findWebhook } from './store.ts';

/** Of an endpoint with more new deliveries between two looks, or more under way, some are not told of. */
const NEWEST = 50;
const UNDER_WAY = 150;

export interface DeliveryWatch {
  /** Those that came or moved since the last look, in the order in which they were made. */
  moved(): Promise<DeliveryView[]>;
}

/** Looks at the endpoint `id` of the caller's organization from now on. @throws ServiceError not_found. */
export async function watchDeliveries(context: Context, id: string): Promise<DeliveryWatch> {
  const { id: webhook_id } = await getWebhook(context, id, findWebhook);
  const numbers = numbersOf(context);
  let seen: ReadonlyMap<number, DeliveryState> = new Map();
  const look = async () => {
    const under_way = [...seen.values()].filter(isUnderWay).map((state) => state.id);
    const limits = { newest: NEWEST, under_way: UNDER_WAY };
    const states = await listDeliveryStates(context.db, { webhook_id, ids: under_way, ...limits });
    const before = seen;
    seen = new Map(states.map((state) => [state.id, state]));
    return states.filter((state) => hasMoved(state, before.get(state.id))).map((state) => state.id);
  };
  await look();
  return {
    async moved() {
      const ids = await look();
      if (ids.length === 0) return [];
      const rows = await readDeliveries(context.db, { webhook_id, ids });
      return rows.map((row) => viewDelivery(numbers, row));
    },
  };
}

function isUnderWay({ status }: DeliveryState): boolean {
  return status === 'queued' || status === 'delivering';
}

/** One that was not seen is new among the newest; elsewhere it only moved up to where one looks. */
function hasMoved(state: DeliveryState, before: DeliveryState | undefined): boolean {
  if (before === undefined) return state.is_newest;
  return state.status !== before.status || state.attempts !== before.attempts;
}
