// Shows what was sent to an endpoint, newest first, or one delivery with all attempts.
import { type DeliveryView, deliveryStatuses } from '@svc/core/webhooks/index.ts';
import type { Static } from 'typebox';
import type { Command, Input } from '../../command.ts';
import { askWebhooks, endpoint, pathOf, webhookFlags } from './ask.ts';

export type Delivery = Static<typeof DeliveryView>;

/** A delivery on a line. */
export function deliveryLine({ id, event, status, attempts, response_code, created_at }: Delivery): string {
  const code = response_code === null ? '' : ` ${response_code === 0 ? 'no answer' : response_code}`;
  return `${id}  ${created_at}  ${event}  ${status}${code}  attempts ${attempts}`;
}

/** A delivery with its attempts and what was sent. */
export function deliveryText(delivery: Delivery): string {
  const attempts = delivery.attempt_log.map(
    ({ at, code, latency_ms, error }) => `  ${at}  ${code === 0 ? error : code}  ${latency_ms} ms`,
  );
  return [
    ...[deliveryLine(delivery), `  ${delivery.event_id}`],
    ...[...attempts, `  ${JSON.stringify(delivery.payload)}`],
  ].join('\n');
}

function queryOf(input: Input): string {
  const given = ['status', 'event', 'limit', 'cursor'].flatMap((name) => {
    const value = input.find(name);
    return value === null ? [] : [[name, value]];
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

export const command: Command = {
  positionals: [...endpoint, { name: 'DELIVERY', doc: 'id of a delivery: shows this one with its attempts' }],
  flags: {
    status: { type: 'text', doc: 'only those in this state', choices: deliveryStatuses },
    event: { type: 'text', doc: 'only those of this event', value: 'TYPE' },
    limit: { type: 'integer', doc: 'how many; default: 50', min: 1, max: 200 },
    cursor: { type: 'text', doc: 'goes on where an answer ended', value: 'CURSOR' },
    ...webhookFlags,
  },
  example: 'svcctl webhooks deliveries wh_01KACZ3V8S6T5R4Q3P2N1M0K9J --status failed',
  async run(input) {
    const one = input.positionals[1];
    if (one !== undefined) {
      const path = pathOf(input, `/deliveries/${encodeURIComponent(one)}`);
      return askWebhooks<Delivery>(input, { method: 'GET', path }, deliveryText);
    }
    const path = pathOf(input, `/deliveries${queryOf(input)}`);
    type Page = { data: readonly Delivery[]; next_cursor: string };
    return askWebhooks<Page>(input, { method: 'GET', path }, ({ data, next_cursor }) => {
      const more = next_cursor === '' ? [] : [`more: --cursor ${next_cursor}`];
      return data.length === 0 ? 'Nothing was sent.' : [...data.map(deliveryLine), ...more].join('\n');
    });
  },
};
