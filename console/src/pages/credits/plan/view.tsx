// The plan: what it costs and includes, what follows, and the others with what a change to each costs.
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { OrgPlanDocument, type PlanFactsFragment } from '../../../api/gen/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Money } from '../../../ui/money.tsx';
import { Bone, ErrorBox } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { type Change, dayOf, feeText, limitText, type Offer } from './words.ts';

function Grace({ grace }: { grace: NonNullable<PlanFactsFragment['grace']> }) {
  return (
    <div className="note" role="status">
      <Status tone="warn">fee not paid</Status>
      <span className="grow">
        <Money micro={grace.feeMicro} as="balance" /> could not be taken. It is tried each hour until{' '}
        <Time at={grace.until} />; without credit the plan ends then.
      </span>
    </div>
  );
}

/** A fee that was told by mail and does not hold yet. */
function Rise({ rise }: { rise: NonNullable<PlanFactsFragment['comingRise']> }) {
  return (
    <div className="note" role="status">
      <Status tone="warn">the fee rises</Status>
      <span className="grow">
        From {dayOf(rise.beginsAt)} a month costs <Money micro={rise.feeMicro} as="balance" />
        {rise.includedMicro !== '0' && (
          <>
            {' '}
            and includes <Money micro={rise.includedMicro} as="balance" />
          </>
        )}
        . Until then the present fee holds.
      </span>
    </div>
  );
}

function NextFee({ plan }: { plan: PlanFactsFragment }) {
  if (plan.freeUntil && !plan.nextPlanId) return <>no fee until {dayOf(plan.freeUntil)}</>;
  return BigInt(plan.nextChargeMicro) === 0n ? 'no fee' : <Money micro={plan.nextChargeMicro} as="balance" />;
}

/** What happens when the month ends. */
function Then({ plan }: { plan: PlanFactsFragment }) {
  const next = plan.changes.find((change) => change.plan.id === plan.nextPlanId)?.plan;
  return (
    <>
      {dayOf(plan.periodEnd)}:{' '}
      {next && (
        <>
          <Status tone="mute" shape="half" plain>
            {next.name}
          </Status>
          ,{' '}
        </>
      )}
      <NextFee plan={plan} />
    </>
  );
}

function Present({ plan }: { plan: PlanFactsFragment }) {
  return (
    <Card title={plan.plan.name} note={plan.plan.description} flush>
      {plan.grace && <Grace grace={plan.grace} />}
      {plan.comingRise && <Rise rise={plan.comingRise} />}
      <dl className="topup-facts plan-facts num">
        <div>
          <dt>Fee</dt>
          <dd>{feeText(plan.plan)}</dd>
        </div>
        <div>
          <dt>Included credit left</dt>
          <dd>
            <Money micro={plan.includedLeftMicro} />
          </dd>
        </div>
        <div>
          <dt>Next month</dt>
          <dd>
            <Then plan={plan} />
          </dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>
            <Time at={plan.since} />
          </dd>
        </div>
      </dl>
    </Card>
  );
}

/** The choice stands beside the name, where a narrow screen shows it too. */
function OfferCells({ offer, children }: { offer: Offer; children: ReactNode }) {
  const { limits } = offer;
  return (
    <>
      <td>
        {offer.name} <span className="sub">{feeText(offer)}</span>
      </td>
      <td>{children}</td>
      <td className="n" data-label="Included">
        {offer.includedMicro ? <Money micro={offer.includedMicro} as="balance" /> : '–'}
      </td>
      <td className="n" data-label="Calls a minute">
        {limitText(limits.rpm)}
      </td>
      <td className="n" data-label="Tokens a minute">
        {limitText(limits.tpm)}
      </td>
      <td className="n" data-label="Calls at once">
        {limitText(limits.concurrency)}
      </td>
      <td className="n" data-label="Keys">
        {limitText(limits.keys)}
      </td>
      <td className="n" data-label="Projects">
        {limitText(limits.projects)}
      </td>
    </>
  );
}

const WORDS = { UPGRADE: 'Upgrade…', DOWNGRADE: 'Change…', KEEP: 'Stay…' } as const;

interface Choices {
  readonly plan: PlanFactsFragment;
  /** Null: this person may not. */
  readonly onChoose: ((change: Change) => void) | null;
}

function Choice({ change, plan, onChoose }: Choices & { change: Change }) {
  if (change.plan.id === plan.nextPlanId) return <span className="soft">from {dayOf(plan.periodEnd)}</span>;
  if (onChoose === null) return null;
  const words = change.kind === 'KEEP' && plan.grace ? 'Try again…' : WORDS[change.kind];
  return (
    <Button onClick={() => onChoose(change)} aria-label={`${words.slice(0, -1)}: ${change.plan.name}`}>
      {words}
    </Button>
  );
}

const figures = ['Included', 'Calls/min', 'Tokens/min', 'At once', 'Keys', 'Projects'];

/** All plans in their order, the present one among them. */
function Plans({ plan, onChoose }: Choices) {
  const keep = plan.changes.find(({ kind }) => kind === 'KEEP');
  const others = plan.changes.filter(({ kind }) => kind !== 'KEEP');
  const present = (
    <tr key={plan.plan.id}>
      <OfferCells offer={plan.plan}>
        {keep ? (
          <Choice change={keep} plan={plan} onChoose={onChoose} />
        ) : (
          <Status tone="ok" plain>
            present
          </Status>
        )}
      </OfferCells>
    </tr>
  );
  const rows = others.map((change) => ({
    before: change.kind === 'DOWNGRADE',
    row: (
      <tr key={change.plan.id}>
        <OfferCells offer={change.plan}>
          <Choice change={change} plan={plan} onChoose={onChoose} />
        </OfferCells>
      </tr>
    ),
  }));
  return (
    <Table name="List of plans" stacks>
      <Columns
        of={['Plan', { name: 'Change', hidden: true }, ...figures.map((name) => ({ name, className: 'n' }))]}
      />
      <tbody>
        {rows.filter(({ before }) => before).map(({ row }) => row)}
        {present}
        {rows.filter(({ before }) => !before).map(({ row }) => row)}
      </tbody>
    </Table>
  );
}

/** `onChanged`: the balance is another one. */
export function PlanView({ onChanged }: { onChanged: () => void }) {
  const { role } = useOrg();
  const [chosen, setChosen] = useState<Change | null>(null);
  const [{ data, error }, again] = useQuery({ query: OrgPlanDocument, requestPolicy: 'cache-and-network' });
  const reread = () => again({ requestPolicy: 'network-only' });
  const plan = data?.org?.plan;
  if (!plan || !data?.org) {
    return (
      <Card title="Plan">
        {error ? <ErrorBox fault={faultOfQuery(error)} onRetry={reread} /> : <Bone width={240} />}
      </Card>
    );
  }
  const onDone = () => {
    reread();
    onChanged();
  };
  return (
    <>
      <Present plan={plan} />
      <Card
        title="Plans"
        note="The fee is taken from credits when a month begins, in UTC. An owner changes the plan."
        flush
      >
        <Plans plan={plan} onChoose={role === 'owner' ? setChosen : null} />
      </Card>
      {chosen && (
        <ChangeDialog
          org_id={data.org.id}
          present={plan}
          change={chosen}
          onDone={onDone}
          onClose={() => setChosen(null)}
        />
      )}
    </>
  );
}
