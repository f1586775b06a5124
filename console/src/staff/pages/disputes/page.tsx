// Disputes that are open, losses that nobody has paid, and refunds that have not gone back.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  type DisputeRowFragment,
  LiftDisputeDocument,
  PayDisputeDocument,
  StaffDisputesDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { PageHead } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { currencyText, exactText } from '../../../ui/format/money.ts';
import { Time, useNow } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { ageOf } from '../item-words.ts';
import { WaitingCard } from '../waiting-card.tsx';
import { RefundsCard } from './refunds-card.tsx';

type Verdict = 'lift' | 'paid';

function Facts({ row }: { row: DisputeRowFragment }) {
  return (
    <dl className="facts num">
      <div>
        <dt>credits of it</dt>
        <dd>{exactText(row.creditsMicro)}</dd>
      </div>
      {row.status === 'lost' && (
        <div>
          <dt>of which spent</dt>
          <dd>{row.writtenOffMicro == null ? 'being booked' : exactText(row.writtenOffMicro)}</dd>
        </div>
      )}
      {row.status === 'open' && (
        <div>
          <dt>answer by</dt>
          <dd>{row.respondBy ? <Time at={row.respondBy} /> : 'not said'}</dd>
        </div>
      )}
      <div>
        <dt>the payer says</dt>
        <dd>{row.reason.replaceAll('_', ' ')}</dd>
      </div>
      <div>
        <dt>at the rail</dt>
        <dd>
          <IdText id={row.gatewayRef} short />
        </dd>
      </div>
    </dl>
  );
}

function Dispute(props: { row: DisputeRowFragment; onDecide: (verdict: Verdict) => void }) {
  const { row, onDecide } = props;
  const now = useNow();
  const loss = row.status === 'lost' && row.writtenOffMicro != null;
  const may = useMay('finance') && loss;
  return (
    <li className="item">
      <div className="item-head">
        <h3>
          {row.orgName}: {currencyText(row.amountMinor, row.currency)}{' '}
          {row.status === 'open' ? 'disputed' : 'lost'}
        </h3>
        <span className="sub">
          {row.invoiceNumber && `${row.invoiceNumber}, `}
          {ageOf(row.openedAt, now)} old, {row.phase.replaceAll('_', ' ')}, {row.gateway}
          {row.liftedAt && ', calls are allowed again'}
        </span>
      </div>
      <Facts row={row} />
      <div className="row wrap">
        {may && (
          <Button
            kind="primary"
            onClick={() => onDecide('paid')}
            aria-label={`The loss of ${row.id} was paid`}
          >
            It was paid…
          </Button>
        )}
        {may && !row.liftedAt && (
          <Button onClick={() => onDecide('lift')} aria-label={`Allow calls despite ${row.id}`}>
            Allow calls…
          </Button>
        )}
        <To className="btn" href={`/orgs/${row.orgId}`} aria-label={`Open the organization of ${row.id}`}>
          Open the organization
        </To>
        <IdText id={row.id} short />
      </div>
    </li>
  );
}

interface Doing {
  readonly row: DisputeRowFragment;
  readonly verdict: Verdict;
}

function Decision({ doing, onClose, onDone }: { doing: Doing; onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  const { row, verdict } = doing;
  const paid = verdict === 'paid';
  return (
    <DecideDialog
      title={paid ? 'The loss was paid' : 'Allow calls again'}
      note={
        paid
          ? 'Calls, refunds and gifts of the organization are allowed again. No credit moves.'
          : 'Its keys work again. The loss stays unpaid, and refunds and gifts stay refused.'
      }
      words={{ label: 'Reason', hint: 'Stands in the audit log of the organization.', needed: true }}
      verb={paid ? 'It was paid' : 'Allow calls'}
      send={(_, reason) => {
        const input = { id: row.id, reason };
        return paid ? mutate(PayDisputeDocument, input) : mutate(LiftDisputeDocument, input);
      }}
      onClose={onClose}
      onDone={onDone}
    />
  );
}

function DisputesCard({ onDecide, round }: { onDecide: (doing: Doing) => void; round: number }) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    query: StaffDisputesDocument,
    requestPolicy: round === 0 ? 'cache-first' : 'network-only',
  });
  const { rows, ...older } = useOlder(data?.disputes, async (after) => {
    const { data: page, error } = await client.query(StaffDisputesDocument, { after }).toPromise();
    return { page: page?.disputes, error };
  });
  return (
    <WaitingCard
      {...{ title: 'Open disputes and unpaid losses', what: 'disputes', rows, older, error }}
      onRetry={() => again({ requestPolicy: 'network-only' })}
      order="newest"
      empty={['No dispute waits', 'No payer asks a bank for money back.']}
    >
      {(rows) => (
        <ul className="items">
          {rows.map((row) => (
            <Dispute key={row.id} row={row} onDecide={(verdict) => onDecide({ row, verdict })} />
          ))}
        </ul>
      )}
    </WaitingCard>
  );
}

export function DisputesPage() {
  const [doing, setDoing] = useState<Doing | null>(null);
  const [round, setRound] = useState(0);
  return (
    <>
      <PageHead title="Disputes">
        <p>Payments that payers ask their bank to take back, and refunds that have not gone back.</p>
      </PageHead>
      <div className="stack">
        <DisputesCard key={round} round={round} onDecide={setDoing} />
        <RefundsCard />
      </div>
      {doing && (
        <Decision
          doing={doing}
          onClose={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            setRound(round + 1);
          }}
        />
      )}
    </>
  );
}
