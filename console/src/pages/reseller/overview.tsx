// What a reseller sees first: how many customers, what can be given, what this month earns, and what needs doing.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { ResaleOverviewDocument, type ResaleOverviewQuery } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { SpendChart } from '../../ui/chart.tsx';
import { countText, plural } from '../../ui/format/numbers.ts';
import { Money } from '../../ui/money.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { seriesOf } from '../usage/figures.ts';
import { Tile } from './tile.tsx';
import type { View } from './views.ts';

type Reseller = NonNullable<ResaleOverviewQuery['reseller']>;
type Overview = NonNullable<Reseller['overview']>;

function Tiles({ overview }: { overview: Overview | undefined }) {
  const bone = <Bone width={90} height={28} />;
  const month = overview?.thisMonth;
  return (
    <div className="resale-tiles">
      <Tile
        label="Customers"
        value={overview ? countText(overview.active) : bone}
        foot={
          overview
            ? `active; ${countText(overview.suspended)} suspended, ${countText(overview.closed)} closed`
            : null
        }
      />
      <Tile
        label="Credit you can give"
        value={overview ? <Money micro={overview.givableMicroUsd} as="balance" /> : bone}
        foot="Paid credit that no call holds. Granted credit is not given on."
      />
      <Tile
        label="Earned this month"
        value={month ? <Money micro={month.accruedMicro} as="spend" /> : bone}
        foot={
          month && (
            <span>
              So far in {month.month}, UTC; credited on the 3rd of the next month. Markup{' '}
              <Money micro={month.markupMicro} as="spend" />
            </span>
          )
        }
      />
      <Tile
        label="Customers used this month"
        value={month ? <Money micro={month.usageMicro} as="spend" /> : bone}
        foot="What their calls cost them."
      />
    </div>
  );
}

function ToView({ view, children }: { view: View; children: ReactNode }) {
  const { slug, env } = useOrg();
  return (
    <Link className="link" to="/$org/$env/reseller" params={{ org: slug, env }} search={{ view }}>
      {children}
    </Link>
  );
}

interface Matter {
  readonly key: string;
  readonly tone: Tone;
  readonly word: string;
  readonly said: ReactNode;
}

function WithoutCredit({ overview }: { overview: Overview }) {
  const { slug, env } = useOrg();
  const more = overview.withoutCredit - overview.namedWithoutCredit.length;
  return (
    <>
      No credit left:{' '}
      {overview.namedWithoutCredit.map(({ id, name }, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <Link className="link" to="/$org/$env/reseller/customers/$id" params={{ org: slug, env, id }}>
            {name}
          </Link>
        </span>
      ))}
      {more > 0 && ` and ${countText(more)} more`}. Their calls are refused.
    </>
  );
}

/** What waits for a person, the gravest first. */
function mattersOf({ overview, tiers }: Reseller): Matter[] {
  if (!overview) return [];
  const found: Matter[] = [];
  const add = (key: string, tone: Tone, word: string, said: ReactNode) => {
    found.push({ key, tone, word, said });
  };
  if (overview.paymentHold)
    add('hold', 'bad', 'payment disputed', 'While a payment of yours is disputed, no credit can be given.');
  if (overview.withoutCredit > 0) add('empty', 'bad', 'credit', <WithoutCredit overview={overview} />);
  if (overview.ticketsWaiting)
    add(
      'tickets',
      'warn',
      'tickets',
      <ToView view="tickets">{plural(overview.ticketsWaiting, 'ticket')} wait for an answer</ToView>,
    );
  if (overview.givableMicroUsd === '0' && overview.active > 0)
    add('give', 'warn', 'balance', 'You have no paid credit to give. A top-up on Credits adds some.');
  if (tiers?.length === 0)
    add(
      'tier',
      'mute',
      'prices',
      <ToView view="prices">Make a tier, so that calls of customers earn</ToView>,
    );
  else if (tiers?.every(({ isDefault }) => !isDefault))
    add(
      'default',
      'mute',
      'prices',
      <ToView view="prices">No tier is the default: who joins by a code pays catalog prices</ToView>,
    );
  return found;
}

function Matters({ reseller }: { reseller: Reseller | undefined }) {
  const matters = reseller && mattersOf(reseller);
  return (
    <Card title="What needs doing" flush>
      {matters === undefined && (
        <div className="resale-pad">
          <Bone width={260} />
        </div>
      )}
      {matters?.length === 0 && (
        <Empty title="Nothing">Every active customer has credit, and nobody waits.</Empty>
      )}
      {matters !== undefined && matters.length > 0 && (
        <ul className="resale-list">
          {matters.map(({ key, tone, word, said }) => (
            <li key={key}>
              <span>{said}</span>
              <Status tone={tone}>{word}</Status>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function UsageCard({ reseller }: { reseller: Reseller | undefined }) {
  const usage = reseller?.usage;
  const names = new Map(reseller?.children?.nodes.map(({ id, name }) => [id, name]) ?? []);
  return (
    <Card title="Use by customer" note="The last 30 days; what calls cost them.">
      {usage && usage.groups.length > 0 && (
        <SpendChart
          label="Use by customer"
          days={usage.series.map(({ bucket }) => bucket.slice(0, 10))}
          series={seriesOf(usage, (key) => names.get(key) ?? key)}
        />
      )}
      {usage?.groups.length === 0 && <Empty title="No call yet">Customers have made none in 30 days.</Empty>}
      {reseller === undefined && <Bone width={260} />}
    </Card>
  );
}

export function OverviewView() {
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleOverviewDocument, variables: { range: 'D30' as const } },
    requestPolicy: 'cache-and-network',
  });
  const reseller = data?.reseller ?? undefined;
  if (error && !reseller?.overview)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  return (
    <>
      <Tiles overview={reseller?.overview ?? undefined} />
      <Matters reseller={reseller} />
      <UsageCard reseller={reseller} />
    </>
  );
}
