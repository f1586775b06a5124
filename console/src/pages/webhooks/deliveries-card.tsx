// What was sent to an endpoint, newest first, by state; each delivery opens.
import { useEffect, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type DeliveryRowFragment,
  RedeliverWebhookDocument,
  WebhookDeliveriesDocument,
  type WebhookRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Card } from '../../ui/card.tsx';
import { SelectField } from '../../ui/field.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { deliveryMarks, deliveryStates, metBy } from './words.ts';

const PAGE = 50;
const LOOK_AGAIN_MS = 2_000;
type State = DeliveryRowFragment['status'];

function useDeliveries(id: string, status: State | null, serial: number) {
  const client = useClient();
  const variables = { id, first: PAGE, status };
  const [{ data, error }, again] = useQuery({
    ...{ query: WebhookDeliveriesDocument, variables },
    requestPolicy: 'cache-and-network',
  });
  const older = useOlder(data?.webhookDeliveries, async (after) => {
    const { data: page, error } = await client
      .query(WebhookDeliveriesDocument, { ...variables, after })
      .toPromise();
    return { page: page?.webhookDeliveries, error };
  });
  const read = () => again({ requestPolicy: 'network-only' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new number is what asks for reading
  useEffect(() => {
    if (serial > 0) read();
  }, [serial]);
  // Reading anew would forget the pages below the first, so only who looks at the first sees it move.
  const waits =
    (older.rows?.length ?? 0) <= PAGE &&
    older.rows?.some(({ deliveredAt, status }) => deliveredAt === null && /QUEUED|DELIVERING/.test(status));
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer is looked at once more
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(read, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [waits, data]);
  return { ...older, error, read };
}

function Line({ row, onOpen }: { row: DeliveryRowFragment; onOpen: () => void }) {
  const { tone, shape, word } = deliveryMarks[row.status];
  const last = row.attemptLog.at(-1);
  return (
    <tr>
      <td data-label="Event">
        <button type="button" className="link" onClick={onOpen}>
          {row.event}
        </button>
      </td>
      <td data-label="State">
        <Status tone={tone} shape={shape}>
          {word}
        </Status>
      </td>
      <td data-label="Answer" className="soft">
        {last === undefined ? '–' : metBy(last)}
      </td>
      <td data-label="Attempts" className="n">
        {row.attempts}
      </td>
      <td data-label="Since" className="soft">
        <Time at={row.createdAt} />
      </td>
    </tr>
  );
}

function Lines(props: {
  rows: readonly DeliveryRowFragment[] | undefined;
  onOpen: (row: DeliveryRowFragment) => void;
}) {
  const { rows, onOpen } = props;
  return (
    <Table name="What was sent" busy={rows === undefined} stacks>
      <Columns of={['Event', 'State', 'Answer', { name: 'Attempts', className: 'n' }, 'Since']} />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={3} columns={5} />
        ) : (
          rows.map((row) => <Line key={row.id} row={row} onOpen={() => onOpen(row)} />)
        )}
      </tbody>
    </Table>
  );
}

/** The delivery that is open, as the list knows it now. */
function Opened(props: {
  hook: WebhookRowFragment;
  row: DeliveryRowFragment;
  allowed: boolean;
  onClose: () => void;
  onSent: () => void;
}) {
  const { hook, row, allowed, onClose, onSent } = props;
  const { send, busy } = useSend();
  const redeliver = async () => {
    const input = { id: hook.id, delivery: String(row.id) };
    if ((await send(RedeliverWebhookDocument, input)) !== null) onSent();
  };
  const can = allowed && hook.status === 'ACTIVE';
  return (
    <DeliveryDialog
      {...{ row, busy, onClose }}
      url={hook.url}
      onRedeliver={can ? () => void redeliver() : null}
    />
  );
}

export function DeliveriesCard(props: {
  hook: WebhookRowFragment;
  allowed: boolean;
  /** Rises when something was sent elsewhere on the page. */
  serial: number;
  onSaid: (said: string) => void;
}) {
  const { hook, allowed, serial, onSaid } = props;
  const [status, setStatus] = useState<State | null>(null);
  const [open, setOpen] = useState<DeliveryRowFragment | null>(null);
  const { rows, error, read, ...older } = useDeliveries(hook.id, status, serial);
  const shown = open && (rows?.find(({ id }) => id === open.id) ?? open);
  const filter = (
    <SelectField
      label="State"
      value={status ?? ''}
      onChange={({ target }) => setStatus(deliveryStates.find((one) => one === target.value) ?? null)}
    >
      <option value="">all</option>
      {deliveryStates.map((state) => (
        <option key={state} value={state}>
          {deliveryMarks[state].word}
        </option>
      ))}
    </SelectField>
  );
  return (
    <Card title="Deliveries" note="kept for 30 days" more={filter} flush>
      {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={read} />}
      {!error && rows?.length === 0 && (
        <Empty title={status === null ? 'Nothing was sent yet' : 'None in this state'}>
          {status === null ? 'Send a test event to see one here.' : 'Choose another state above.'}
        </Empty>
      )}
      {rows?.length !== 0 && <Lines rows={rows} onOpen={setOpen} />}
      <OlderFoot shown={rows?.length ?? 0} what="deliveries" {...older} />
      {shown && (
        <Opened
          {...{ hook, allowed }}
          row={shown}
          onClose={() => setOpen(null)}
          onSent={() => {
            setOpen(null);
            // The new delivery is in another state than the one that was looked at.
            setStatus(null);
            onSaid('It is sent again, as a new delivery.');
            read();
          }}
        />
      )}
    </Card>
  );
}
