// Payments that differ from what was asked: each is booked for what it is, or goes back.
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  AcceptTopupDocument,
  RefuseTopupDocument,
  type ReviewFragment,
  TopupReviewsDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { currencyText, exactText } from '../../../ui/format/money.ts';
import { Bone, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { ageOf } from '../item-words.ts';

type Verdict = 'accept' | 'refuse';

function paidText({ paidMinor, paidCurrency }: ReviewFragment): string {
  return currencyText(paidMinor, paidCurrency);
}

function noteOf(row: ReviewFragment, verdict: Verdict): string {
  const { offer, currency, gateway } = row;
  if (verdict === 'refuse' || !offer) {
    return `${paidText(row)} goes back whole at ${gateway}, and the top-up has failed. No credit moves.`;
  }
  const { amountMinor, taxMinor, creditsMicro } = offer;
  const tax = taxMinor === '0' ? 'without tax' : `and ${currencyText(taxMinor, currency)} tax`;
  return `${currencyText(amountMinor, currency)} ${tax} are booked with their document, for ${exactText(creditsMicro)} of credit.`;
}

function Facts({ row }: { row: ReviewFragment }) {
  const { offer, currency } = row;
  return (
    <dl className="facts num">
      <div>
        <dt>asked</dt>
        <dd>
          {currencyText(row.totalMinor, currency)} for {exactText(row.creditsMicro)}
        </dd>
      </div>
      <div>
        <dt>paid</dt>
        <dd>{paidText(row)}</dd>
      </div>
      <div>
        <dt>buys</dt>
        <dd>{offer ? exactText(offer.creditsMicro) : 'nothing in this currency'}</dd>
      </div>
      {offer && offer.taxMinor !== '0' && (
        <div>
          <dt>of which tax</dt>
          <dd>{currencyText(offer.taxMinor, currency)}</dd>
        </div>
      )}
      <div>
        <dt>payment</dt>
        <dd>{row.paymentRef ? <IdText id={row.paymentRef} short /> : '–'}</dd>
      </div>
    </dl>
  );
}

function Review(props: { row: ReviewFragment; onDecide: (verdict: Verdict) => void }) {
  const { row, onDecide } = props;
  const now = useNow();
  const may = useMay('finance');
  return (
    <li className="item">
      <div className="item-head">
        <h3>
          {row.orgName}: {paidText(row)} paid, {currencyText(row.totalMinor, row.currency)} asked
        </h3>
        <span className="sub">
          waits {ageOf(row.createdAt, now)}, top-up of <Time at={row.createdAt} />, {row.gateway}
        </span>
      </div>
      <Facts row={row} />
      <div className="row wrap">
        {may && row.offer && (
          <Button kind="primary" onClick={() => onDecide('accept')} aria-label={`Book ${row.id}`}>
            Book what was paid…
          </Button>
        )}
        {may && (
          <Button onClick={() => onDecide('refuse')} aria-label={`Give back ${row.id}`}>
            Give it back…
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
  readonly row: ReviewFragment;
  readonly verdict: Verdict;
}

function Decision({ doing, onClose, onDone }: { doing: Doing; onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  const { row, verdict } = doing;
  const accept = verdict === 'accept';
  return (
    <DecideDialog
      title={accept ? 'Book what was paid' : 'Give the payment back'}
      note={noteOf(row, verdict)}
      words={{ label: 'Reason', hint: 'Stands in the audit log of the organization.', needed: true }}
      verb={accept ? 'Book it' : 'Give it back'}
      danger={!accept}
      send={(_, reason) => {
        const input = { id: row.id, reason };
        return accept ? mutate(AcceptTopupDocument, input) : mutate(RefuseTopupDocument, input);
      }}
      onClose={onClose}
      onDone={onDone}
    />
  );
}

export function ReviewsPage() {
  const [{ data, error }, again] = useQuery({ query: TopupReviewsDocument });
  const [doing, setDoing] = useState<Doing | null>(null);
  const reread = () => again({ requestPolicy: 'network-only' });
  const rows = data?.topupReviews;
  return (
    <>
      <PageHead title="Reviews">
        <p>Payments that differ from what was asked. Nothing is credited until one of you decides.</p>
      </PageHead>
      <Card title="Top-ups in review" flush>
        {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {!error && data === undefined && (
          <div className="item">
            <Bone width={260} />
          </div>
        )}
        {rows?.length === 0 && <Empty title="Nothing waits">All payments were what was asked.</Empty>}
        {rows && rows.length > 0 && (
          <ul className="items">
            {rows.map((row) => (
              <Review key={row.id} row={row} onDecide={(verdict) => setDoing({ row, verdict })} />
            ))}
          </ul>
        )}
      </Card>
      {doing && (
        <Decision
          doing={doing}
          onClose={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            reread();
          }}
        />
      )}
    </>
  );
}
