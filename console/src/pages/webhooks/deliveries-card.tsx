// What was sent to an endpoint, newest first, by state and by event; it moves by itself, and each delivery opens.
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type DeliveryRowFragment,
  RedeliverWebhookDocument,
  WebhookEventsDocument,
  type WebhookRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { deliveryStateWords, type WebhookSearch } from '../../app/search.ts';
import { Card } from '../../ui/card.tsx';
import { SelectField } from '../../ui/field.tsx';
import { LiveMark } from '../../ui/live-mark.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot } from '../credits/older.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { useDeliveries } from './use-deliveries.ts';
import { deliveryMarks, metBy } from './words.ts';

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

/** The state and the event of which deliveries are shown; both stand in the address. */
function Filters({ search, onSearch }: { search: WebhookSearch; onSearch: (next: WebhookSearch) => void }) {
  const [{ data }] = useQuery({ query: WebhookEventsDocument, requestPolicy: 'cache-first' });
  const { state, event, ...rest } = search;
  const known = data?.webhookEvents?.map(({ name }) => name) ?? [];
  // A link may name an event before the list has come, or one of another release.
  const events = event === undefined || known.includes(event) ? known : [event, ...known];
  return (
    <span className="webhook-filters">
      <SelectField
        label="State"
        value={state ?? ''}
        onChange={({ target }) => {
          const next = deliveryStateWords.find((one) => one === target.value);
          onSearch({ ...rest, ...(next && { state: next }), ...(event && { event }) });
        }}
      >
        <option value="">all</option>
        {deliveryStateWords.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </SelectField>
      <SelectField
        label="Event"
        value={event ?? ''}
        onChange={({ target }) =>
          onSearch({ ...rest, ...(state && { state }), ...(target.value && { event: target.value }) })
        }
      >
        <option value="">all</option>
        {events.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
    </span>
  );
}

function None({ search }: { search: WebhookSearch }) {
  const { state, event } = search;
  if (state === undefined && event === undefined)
    return <Empty title="Nothing was sent yet">Send a test event to see one here.</Empty>;
  const title = event === undefined ? 'None in this state' : 'None of this event';
  return <Empty title={title}>Choose another above.</Empty>;
}

export function DeliveriesCard(props: {
  hook: WebhookRowFragment;
  allowed: boolean;
  search: WebhookSearch;
  onSearch: (next: WebhookSearch) => void;
  /** Rises when something was sent elsewhere on the page. */
  serial: number;
  onSaid: (said: string) => void;
}) {
  const { hook, allowed, search, onSearch, serial, onSaid } = props;
  const [open, setOpen] = useState<DeliveryRowFragment | null>(null);
  const { rows, error, live, read, ...older } = useDeliveries(hook.id, search, serial);
  const shown = open && (rows?.find(({ id }) => id === open.id) ?? open);
  const note = (
    <>
      kept for 30 days <LiveMark state={live} />
    </>
  );
  return (
    <Card title="Deliveries" note={note} more={<Filters {...{ search, onSearch }} />} flush>
      {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={read} />}
      {!error && rows?.length === 0 && <None search={search} />}
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
            const { state: _, ...rest } = search;
            onSearch(rest);
            onSaid('It is sent again, as a new delivery.');
            read();
          }}
        />
      )}
    </Card>
  );
}
