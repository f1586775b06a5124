// The first page: whether calls are answered, and what they cost.
import './home.css';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  HomeDocument,
  HomeFiguresAgainDocument,
  type HomeFiguresFragment,
  type HomeQuery,
} from '../../api/gen/graphql.ts';
import { useSessionState } from '../../api/session.ts';
import { may, useOrg } from '../../app/org.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { SpendChart } from '../../ui/chart.tsx';
import { ShortFeed } from '../../ui/feed.tsx';
import { durationText, plural, shareText, tileText } from '../../ui/format/numbers.ts';
import { greetingAt } from '../../ui/format/time.ts';
import { Icon } from '../../ui/icons.tsx';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Money } from '../../ui/money.tsx';
import { Bone, BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { type Feed, useFeed } from '../../ui/use-feed.ts';
import { daysOf, lastsText, median, spendSeries } from './spend.ts';
import { standing } from './standing.ts';

const FirstCall = lazy(() => import('./first-call.tsx').then((m) => ({ default: m.FirstCall })));
const ROWS = 7;
const FIGURES_EVERY_MS = 5_000;

function Tile({
  label,
  aside,
  value,
  foot,
}: {
  label: string;
  aside?: ReactNode;
  value: ReactNode;
  foot: ReactNode;
}) {
  return (
    <section className="card tile" aria-label={label}>
      <div className="tile-head">
        <span>{label}</span>
        {aside && <span className="sub num">{aside}</span>}
      </div>
      <div className="tile-value num">{value}</div>
      <div className="tile-foot sub">{foot}</div>
    </section>
  );
}

function BalanceTile({ data }: { data: HomeFiguresFragment | undefined }) {
  const { env } = useOrg();
  const label = env === 'sandbox' ? 'Sandbox credit' : 'Available credit';
  const balance = data?.credits?.balance;
  if (data === undefined)
    return <Tile label={label} value={<Bone width={140} height={28} />} foot={<Bone width={180} />} />;
  if (!balance) return <Tile label={label} value="–" foot="Your role does not see the balance." />;
  const total = Number(balance.availableMicroUsd);
  const granted = Math.min(total, Number(balance.grantedMicroUsd));
  const share = total === 0 ? 0 : granted / total;
  const words = total === 0 ? 'Nothing left' : `Paid ${shareText(1 - share)}, granted ${shareText(share)}`;
  return (
    <Tile
      label={label}
      aside={
        balance.heldMicroUsd === '0' ? undefined : (
          <>
            <Money micro={balance.heldMicroUsd} as="spend" /> held now
          </>
        )
      }
      value={<Money micro={balance.availableMicroUsd} as="balance" />}
      foot={
        <>
          <span className="meter" role="img" aria-label={words} title={words}>
            {total > 0 && (
              <>
                <span style={{ width: `${(1 - share) * 100}%`, background: 'var(--c1)' }} />
                <span style={{ width: `${share * 100}%`, background: 'var(--c2)' }} />
              </>
            )}
          </span>
          <span className="tile-line">
            {data.usage ? lastsText(balance.availableMicroUsd, data.usage) : ''}
          </span>
        </>
      }
    />
  );
}

function errorsText(day: { requests: number; errors: number } | undefined): string {
  if (day === undefined || day.requests === 0) return 'None yet today, UTC';
  return `${shareText(day.errors / day.requests)} errors`;
}

function Tiles({ data, feed }: { data: HomeFiguresFragment | undefined; feed: Feed }) {
  const bone = <Bone width={90} height={28} />;
  const today = data?.usage?.series.at(-1);
  const yesterday = data?.usage?.series.at(-2);
  const first_tokens = feed.rows.flatMap(({ ttftMs }) => (ttftMs === null ? [] : [ttftMs as number]));
  const moved = feed.rows.filter(({ attempts }) => attempts > 1).length;
  const known = data !== undefined;
  return (
    <div className="tiles">
      <BalanceTile data={data} />
      <Tile
        label="Spend today"
        value={known ? <Money micro={today?.costMicro} as="spend" /> : bone}
        foot={
          known ? (
            <span>
              <Money micro={yesterday?.costMicro ?? 0} as="spend" /> yesterday, UTC
            </span>
          ) : (
            <Bone width={110} />
          )
        }
      />
      <Tile
        label="Calls today"
        value={known ? tileText(today?.requests ?? 0) : bone}
        foot={known ? errorsText(today) : <Bone width={80} />}
      />
      <Tile
        label="First token, median"
        value={known ? durationText(median(first_tokens)) : bone}
        foot={
          known ? `of the last ${plural(feed.rows.length, 'call')}, ${moved} fell back` : <Bone width={120} />
        }
      />
    </div>
  );
}

function Spend({ data }: { data: HomeFiguresFragment | undefined }) {
  const usage = data?.usage;
  let body: ReactNode;
  if (data === undefined) body = <div className="chart-room" />;
  else if (!usage)
    body = <Empty title="No figures">Your role does not see usage, or it could not be read.</Empty>;
  else if (usage.totals.costMicro === '0') {
    body = (
      <div className="chart-room">
        <Empty title="Nothing was spent in 30 days">Each day’s spend will appear here, by model.</Empty>
      </div>
    );
  } else {
    body = (
      <SpendChart label="Spend by model, last 30 days" days={daysOf(usage)} series={spendSeries(usage)} />
    );
  }
  return (
    <Card title="Spend by model" note="last 30 days, UTC">
      {body}
    </Card>
  );
}

function LiveCard({ data, feed }: { data: HomeQuery | undefined; feed: Feed }) {
  const { slug, env } = useOrg();
  return (
    <Card
      title="Latest calls"
      note={<LiveMark state={feed.live} />}
      more={
        <Link className="link" to="/$org/$env/requests" params={{ org: slug, env }}>
          All requests
        </Link>
      }
      flush
    >
      <Table name="List of latest calls">
        {data === undefined ? (
          <tbody>
            <BoneRows rows={ROWS} columns={4} />
          </tbody>
        ) : (
          <ShortFeed rows={feed.rows.slice(0, ROWS)} fresh={feed.fresh} />
        )}
      </Table>
    </Card>
  );
}

/** One sentence on whether calls are answered, with the way to those that were not. */
function StandingLine({ data, feed }: { data: HomeFiguresFragment; feed: Feed }) {
  const { slug, env } = useOrg();
  const { tone, text, status } = standing(data.credits?.balance?.availableMicroUsd ?? null, feed.rows);
  return (
    <>
      <Status tone={tone} plain>
        {text}
      </Status>
      {status !== undefined && (
        <Link className="link" to="/$org/$env/requests" params={{ org: slug, env }} search={{ status }}>
          See them
        </Link>
      )}
    </>
  );
}

/** The data of the page, and the calls that arrive while it is open. */
function useHome() {
  const { environment } = useOrg();
  const [{ data, error }, again] = useQuery({ query: HomeDocument, variables: { environment } });
  const [fresh, readFigures] = useQuery({
    query: HomeFiguresAgainDocument,
    variables: { environment },
    pause: true,
  });
  // Figures that were read on their own take precedence over those of the page's query, so they are read again too.
  const readAgain = () => {
    again({ requestPolicy: 'network-only' });
    if (fresh.data) readFigures({ requestPolicy: 'network-only' });
  };
  const asked_at = useRef(Number.NEGATIVE_INFINITY);
  const feed = useFeed({
    read: data?.requests?.nodes,
    off: data === undefined,
    onBack: readAgain,
    onRow: () => {
      // A new call changes the figures, so they are read again, but not for every row.
      if (performance.now() - asked_at.current < FIGURES_EVERY_MS) return;
      asked_at.current = performance.now();
      setTimeout(() => readFigures({ requestPolicy: 'network-only' }), FIGURES_EVERY_MS);
    },
  });
  const shown = data && fresh.data ? { ...data, ...fresh.data } : data;
  return { data, shown, error, feed, readAgain };
}

function Actions() {
  const { slug, env, role } = useOrg();
  return (
    <>
      {may(role, 'keys') && (
        <Link className="btn" to="/$org/$env/keys" params={{ org: slug, env }} search={{ create: true }}>
          Create key
        </Link>
      )}
      <Link
        className="btn primary"
        to="/$org/$env/credits"
        params={{ org: slug, env }}
        search={env === 'live' ? { add: true } : {}}
      >
        <Icon name="plus" size={15} />
        {env === 'live' ? 'Add credits' : 'Sandbox credit'}
      </Link>
    </>
  );
}

export function HomePage() {
  const { role } = useOrg();
  const session = useSessionState();
  const { data, shown, error, feed, readAgain } = useHome();
  const [first_done, setFirstDone] = useState(false);
  // An organisation without calls is shown how to make the first; this stays until the person leaves it.
  const [first_open, setFirstOpen] = useState<boolean | null>(null);
  if (data?.requests && first_open === null) setFirstOpen(data.requests.nodes.length === 0);
  if (first_open && !first_done && may(role, 'keys')) {
    return (
      <Suspense fallback={null}>
        <FirstCall onDone={() => setFirstDone(true)} />
      </Suspense>
    );
  }

  const name = session.kind === 'signed_in' ? session.session.user.name.split(' ')[0] : '';
  return (
    <>
      <PageHead title={`${greetingAt(new Date())}${name ? `, ${name}` : ''}`} actions={<Actions />}>
        <p className="row wrap">{shown ? <StandingLine data={shown} feed={feed} /> : <Bone width={180} />}</p>
      </PageHead>
      <div className="stack">
        {error && (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={readAgain} />
          </div>
        )}
        {(data || !error) && (
          <>
            <Tiles data={shown} feed={feed} />
            <div className="split home-split">
              <Spend data={shown} />
              <LiveCard data={data} feed={feed} />
            </div>
          </>
        )}
      </div>
    </>
  );
}
