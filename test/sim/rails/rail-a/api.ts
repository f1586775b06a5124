// The calls of the simulated rail-a's API.
import type { Disputes } from './disputes.ts';
import { RailARefusal } from './objects.ts';
import type { Settlements } from './settlements.ts';
import type { Body, RailAStore } from './store.ts';

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Body;
  readonly refund_key: string | null;
}

function collection(all: readonly object[], query: URLSearchParams): object {
  const count = Math.min(Number(query.get('count') ?? 10), 100);
  const skip = Number(query.get('skip') ?? 0);
  const items = all.slice(skip, skip + count);
  return { entity: 'collection', count: items.length, items };
}

/** Those of a time, whose last second is in it; newest first. */
function within<T extends { readonly created_at: number }>(rows: Iterable<T>, query: URLSearchParams): T[] {
  const from = Number(query.get('from') ?? 0);
  const to = Number(query.get('to') ?? Number.POSITIVE_INFINITY);
  return [...rows].filter(({ created_at }) => created_at >= from && created_at <= to).reverse();
}

function list(items: readonly object[]): object {
  return { entity: 'collection', count: items.length, items };
}

function ordersOf(store: RailAStore, query: URLSearchParams): object {
  const receipt = query.get('receipt');
  return collection(receipt === null ? [...store.orders.values()].reverse() : store.ordersOf(receipt), query);
}

function onOrders(store: RailAStore, { method, path, query, body }: ApiCall): object | null {
  const [, , , order_id = '', part = ''] = path.split('/');
  if (order_id === '') return method === 'POST' ? store.createOrder(body) : ordersOf(store, query);
  if (method !== 'GET') return null;
  if (part === 'payments') return list(store.paymentsOf(store.order(order_id).id));
  return part === '' ? store.order(order_id) : null;
}

function onPayments(store: RailAStore, { method, path, query, body, refund_key }: ApiCall): object | null {
  const [, , , payment_id = '', part = '', refund_id = ''] = path.split('/');
  if (payment_id === '')
    return method === 'GET' ? collection(within(store.payments.values(), query), query) : null;
  if (method === 'POST') {
    if (payment_id === 'create' && part === 'recurring') return store.mandates.debit(body);
    if (part === 'refund') return store.refund(payment_id, body, refund_key);
    return part === 'capture' ? store.capture(payment_id) : null;
  }
  const payment = store.payment(payment_id);
  if (part === 'refunds' && refund_id === '') {
    return collection(
      [...store.refunds.values()].filter((refund) => refund.payment_id === payment_id).reverse(),
      query,
    );
  }
  if (part === 'refunds') return store.refundOf(refund_id);
  return part === '' ? payment : null;
}

function onCustomers({ mandates }: RailAStore, { method, path, body }: ApiCall): object | null {
  const [, , , customer_id = '', part = '', token_id = ''] = path.split('/');
  if (customer_id === '') return method === 'POST' ? mandates.createCustomer(body) : null;
  if (part !== 'tokens' || token_id === '') return null;
  return method === 'DELETE' ? mandates.remove(customer_id, token_id) : mandates.token(customer_id, token_id);
}

function onSettlements(settlements: Settlements, { path, query }: ApiCall): object | null {
  const [, , , settlement_id = '', part = ''] = path.split('/');
  if (settlement_id === 'recon' && part === 'combined') return list(settlements.report(query));
  if (settlement_id === '') return collection(within(settlements.settlements.values(), query), query);
  return settlements.settlements.get(settlement_id) ?? null;
}

function onRefunds(store: RailAStore, { path, query }: ApiCall): object {
  const refund_id = path.split('/')[3] ?? '';
  return refund_id === ''
    ? collection(within(store.refunds.values(), query), query)
    : store.refundOf(refund_id);
}

/** The list takes no time. */
function onDisputes(disputes: Disputes, { path, query }: ApiCall): object {
  const dispute_id = path.split('/')[3] ?? '';
  return dispute_id === ''
    ? collection([...disputes.all.values()].reverse(), query)
    : disputes.dispute(dispute_id);
}

/** The answer to a call. @throws RailARefusal. */
export function callApi(
  store: RailAStore,
  { settlements, disputes }: { readonly settlements: Settlements; readonly disputes: Disputes },
  call: ApiCall,
): object {
  const resource = call.path.split('/')[2];
  const answer =
    (resource === 'orders' && onOrders(store, call)) ||
    (resource === 'payments' && onPayments(store, call)) ||
    (resource === 'customers' && onCustomers(store, call)) ||
    (resource === 'refunds' && call.method === 'GET' && onRefunds(store, call)) ||
    (resource === 'disputes' && call.method === 'GET' && onDisputes(disputes, call)) ||
    (resource === 'settlements' && call.method === 'GET' && onSettlements(settlements, call));
  if (answer) return answer;
  throw new RailARefusal(400, 'The requested URL was not found on the server.', { reason: 'NA' });
}
