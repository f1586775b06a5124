// Acts that move more than one person may move alone: one asked, another one approves, and then it is done.
import { useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  type ApprovalRowFragment,
  ApprovalsDocument,
  ApproveActDocument,
  RefuseActDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { useSessionState } from '../../../api/session.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { PageHead } from '../../../ui/card.tsx';
import { exactText } from '../../../ui/format/money.ts';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { roleOf, useMay } from '../../realm.ts';
import { CodesDialog } from '../codes/codes-dialog.tsx';
import { DecideDialog } from '../decide-dialog.tsx';
import { priceFacts } from '../prices/form.ts';
import { ProposedPrice } from '../prices/plan-view.tsx';
import { rateFacts } from '../prices/words.ts';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 20;
type Row = ApprovalRowFragment;
type Verdict = 'approve' | 'refuse';

const verbs: Readonly<Record<string, string>> = {
  'staff.credits.grant': 'Grant credit',
  'staff.redeem.create': 'Make codes',
  'staff.topups.accept': 'Book a payment in review',
  'staff.topups.refuse': 'Give a payment in review back',
  'staff.prices.propose': 'Set prices of an endpoint',
  'staff.fx.propose': 'Set exchange rates of a day',
};
/** What the title and the line below it say already. */
const repeated: ReadonlySet<string> = new Set(['id', 'reason', 'changes', 'replaces', 'endpoint_id']);
const PRICE = 'staff.prices.propose';
const RATES = 'staff.fx.propose';
const verbOf = ({ action }: Row) => verbs[action] ?? action;
const ends: Readonly<Record<Row['status'], string>> = {
  PENDING: 'Waits',
  LAPSED: 'Nobody decided in time',
  APPROVED: 'Approved',
  REFUSED: 'Refused',
  WITHDRAWN: 'Taken back',
};

function titleOf(row: Row): string {
  if (row.amountMicroUsd === null) return verbOf(row);
  const who = row.action === 'staff.credits.grant' ? 'to' : 'of';
  const whose = row.orgName ? ` ${who} ${row.orgName}` : '';
  return `${verbOf(row)}${whose}: ${exactText(row.amountMicroUsd)}`;
}

function useIsMine(row: Row): boolean {
  const state = useSessionState();
  return state.kind === 'signed_in' && state.session.user.email === row.askedBy;
}

function Facts({ row }: { row: Row }) {
  return (
    <dl className="facts num">
      {row.input
        .filter(({ name }) => !repeated.has(name))
        .map(({ name, value }) => (
          <div key={name}>
            <dt>{name === 'amount_micro' ? 'amount' : name.replaceAll('_', ' ')}</dt>
            <dd>{name === 'amount_micro' ? exactText(value) : value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** What waits is shown with what it comes to now; of what was decided the amounts that were asked for. */
function PriceFacts({ row }: { row: Row }) {
  if (row.action === PRICE && row.status === 'PENDING') return <ProposedPrice approvalId={row.id} />;
  const facts = row.action === RATES ? rateFacts(row.input) : priceFacts(row.input);
  return (
    <dl className="facts num">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Outcome({ row }: { row: Row }) {
  if (row.decidedBy === null || row.decidedAt === null) return null;
  return (
    <p className="soft">
      {ends[row.status]} by {row.decidedBy}, <Time at={row.decidedAt} />
      {row.note && <>: “{row.note}”</>}
    </p>
  );
}

function Buttons({ row, onDecide }: { row: Row; onDecide: (verdict: Verdict) => void }) {
  const may = useMay(...row.decidedByRoles.map(roleOf));
  const is_mine = useIsMine(row);
  const waits = row.status === 'PENDING';
  return (
    <div className="row wrap">
      {may && waits && !is_mine && (
        <Button kind="primary" onClick={() => onDecide('approve')} aria-label={`Approve ${row.id}`}>
          Approve…
        </Button>
      )}
      {may && waits && (
        <Button
          onClick={() => onDecide('refuse')}
          aria-label={`${is_mine ? 'Take back' : 'Refuse'} ${row.id}`}
        >
          {is_mine ? 'Take it back…' : 'Refuse…'}
        </Button>
      )}
      {row.orgId && (
        <To className="btn" href={`/orgs/${row.orgId}`} aria-label={`Open the organization of ${row.id}`}>
          Open the organization
        </To>
      )}
      {waits && is_mine && <span className="sub">You asked for this; somebody else approves it.</span>}
    </div>
  );
}

function Act({ row, onDecide }: { row: Row; onDecide: (verdict: Verdict) => void }) {
  const waits = row.status === 'PENDING';
  return (
    <li className="item">
      <div className="item-head">
        <h3>{titleOf(row)}</h3>
        <span className="sub">
          {row.askedBy} asked <Time at={row.askedAt} />
          {waits && (
            <>
              , waits until <Time at={row.expiresAt} />
            </>
          )}
          {row.status === 'LAPSED' && ', nobody decided in time'}
        </span>
      </div>
      <p className="soft">“{row.reason}”</p>
      {row.action === PRICE || row.action === RATES ? <PriceFacts row={row} /> : <Facts row={row} />}
      <Outcome row={row} />
      <Buttons row={row} onDecide={onDecide} />
    </li>
  );
}

/** The name of a batch of codes. */
const codesOf = ({ input }: Row) => input.find(({ name }) => name === 'name')?.value ?? 'codes';

interface Doing {
  readonly row: Row;
  readonly verdict: Verdict;
}

function Decision(props: { doing: Doing; onClose: () => void; onDone: () => void }) {
  const { doing, onClose, onDone } = props;
  const mutate = useMutate();
  const is_mine = useIsMine(doing.row);
  const { row, verdict } = doing;
  const approves = verdict === 'approve';
  const codes = useRef<string | null>(null);
  const [csv, setCsv] = useState<string | null>(null);
  if (csv !== null)
    return <CodesDialog title="The codes are made" file={`${codesOf(row)}.csv`} csv={csv} onClose={onDone} />;
  const refusal = is_mine ? 'Take it back' : 'Refuse it';
  return (
    <DecideDialog
      title={approves ? titleOf(row) : `${refusal}: ${verbOf(row)}`}
      note={
        approves
          ? `${row.askedBy} asked for it: “${row.reason}”. It is done at once, with both of your names in the audit log.`
          : 'Nothing is done. It can be asked for again.'
      }
      words={{
        label: approves ? 'Note' : 'Reason',
        hint: approves ? 'Stands in the audit log. May be empty.' : 'Who asked reads it.',
        needed: !approves,
      }}
      verb={approves ? 'Approve and do it' : refusal}
      danger={!approves}
      send={async (_, words) => {
        if (!approves) return mutate(RefuseActDocument, { id: row.id, reason: words });
        const input = { id: row.id, ...(words === '' ? {} : { note: words }) };
        const done = await mutate(ApproveActDocument, input);
        if (done.ok) codes.current = done.value.csv;
        return done;
      }}
      onClose={onClose}
      onDone={() => (codes.current === null ? onDone() : setCsv(codes.current))}
    />
  );
}

function List({ waiting, onDecide }: { waiting: boolean; onDecide: (doing: Doing) => void }) {
  const client = useClient();
  const asked = { first: PAGE, waiting };
  const [{ data, error }, again] = useQuery({ query: ApprovalsDocument, variables: asked });
  const { rows, ...older } = useOlder(data?.approvals, async (after) => {
    const { data: page, error } = await client.query(ApprovalsDocument, { ...asked, after }).toPromise();
    return { page: page?.approvals, error };
  });
  return (
    <WaitingCard
      {...{ title: waiting ? 'Waiting' : 'Decided', what: 'acts', rows, older, error }}
      onRetry={() => again({ requestPolicy: 'network-only' })}
      order="newest"
      empty={
        waiting
          ? ['Nothing waits', 'What moves up to $100.00 one person does alone.']
          : ['Nothing was decided yet', 'What was approved, refused or taken back stands here.']
      }
    >
      {(rows) => (
        <ul className="items">
          {rows.map((row) => (
            <Act key={row.id} row={row} onDecide={(verdict) => onDecide({ row, verdict })} />
          ))}
        </ul>
      )}
    </WaitingCard>
  );
}

export function ApprovalsPage() {
  const [doing, setDoing] = useState<Doing | null>(null);
  // A decision makes both lists anew.
  const [made, setMade] = useState(0);
  return (
    <>
      <PageHead title="Approvals">
        <p>
          Prices, exchange rates, and what moves more than $100.00 need two people: one asks, another one
          approves.
        </p>
      </PageHead>
      <div className="stack">
        <List key={`waiting ${made}`} waiting onDecide={setDoing} />
        <List key={`decided ${made}`} waiting={false} onDecide={setDoing} />
      </div>
      {doing && (
        <Decision
          doing={doing}
          onClose={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            setMade(made + 1);
          }}
        />
      )}
    </>
  );
}
