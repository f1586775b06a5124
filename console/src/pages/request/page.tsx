// The page of one call: its route, its duration and its price, each explained.
import './request.css';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useQuery } from 'urql';
import { base_url } from '../../api/boot.ts';
import { faultOfQuery } from '../../api/errors.ts';
import { RequestDetailDocument, type RequestDetailQuery } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { CopyButton, IdText } from '../../ui/copy.tsx';
import { RowStatus } from '../../ui/feed.tsx';
import { countText, durationText, plural, shareText } from '../../ui/format/numbers.ts';
import { instantOf, utcText } from '../../ui/format/time.ts';
import { Icon } from '../../ui/icons.tsx';
import { Money } from '../../ui/money.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { movesOf } from './explain.ts';
import { PriceCard, SettlementCard } from './money-cards.tsx';
import { RouteCard } from './route-card.tsx';

export type Call = NonNullable<RequestDetailQuery['request']>;
const AGAIN_MS = 1_500;
const TRIES = 6;

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="figure">
      <dt className="sub">{label}</dt>
      <dd className="num">{children}</dd>
    </div>
  );
}

function Figures({ call }: { call: Call }) {
  const cached = call.inputTokens === 0 ? 0 : call.cacheReadTokens / call.inputTokens;
  const facts: [string, string | null | undefined][] = [
    ['Key', call.key?.name],
    ['Project', call.project?.name],
    ['App', call.appId || null],
    ['Dialect', call.detail ? `${call.detail.dialectIn}${call.stream ? ', streamed' : ''}` : null],
    ['Stop', call.stopReason || null],
    [
      'Data policy',
      `${call.zdr ? 'zero retention' : 'standard'}, ${call.logged ? 'content stored' : 'content not stored'}`,
    ],
  ];
  return (
    <section className="card" aria-label="Figures">
      <dl className="figures">
        <Figure label="Cost">
          <span className="figure-cost">
            <Money micro={call.costMicro} />
          </span>
        </Figure>
        <Figure label="Tokens in">
          {countText(call.inputTokens)}{' '}
          {cached > 0 && <span className="faint">{shareText(cached)} cached</span>}
        </Figure>
        <Figure label="Tokens out">{countText(call.outputTokens)}</Figure>
        <Figure label="First token">{durationText(call.ttftMs)}</Figure>
        <Figure label="Total">{durationText(call.durationMs)}</Figure>
        <Figure label="Gateway added">{durationText(call.detail?.gwOverheadMs)}</Figure>
      </dl>
      <dl className="facts">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </section>
  );
}

interface Warning {
  readonly code?: string;
  readonly message?: string;
  readonly param?: string;
}

/** What was dropped or changed on the way, each with the parameter it is about. */
function Warnings({ warnings }: { warnings: readonly unknown[] }) {
  if (warnings.length === 0) return null;
  return (
    <Card
      title="Warnings"
      note={`${plural(warnings.length, 'thing was', 'things were')} not carried out as asked`}
    >
      <ul className="warnings">
        {(warnings as Warning[]).map((warning) => (
          <li key={`${warning.code} ${warning.param}`}>
            <Status tone="warn">{(warning.code ?? 'warning').replaceAll('_', ' ')}</Status>
            <span>{warning.message}</span>
            {warning.param && <code className="mono faint">{warning.param}</code>}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function CallLink({ id }: { id: string }) {
  const { slug, env } = useOrg();
  return (
    <Link className="link mono" to="/$org/$env/requests/$id" params={{ org: slug, env, id }}>
      {id}
    </Link>
  );
}

/** What a shadow of a policy has to do with the call: it is a copy, or was copied. */
function Copies({ detail }: { detail: Call['detail'] }) {
  if (!detail) return null;
  const { shadowOf, shadows } = detail;
  if (shadowOf)
    return (
      <div className="card note copy-note">
        This is a copy of the call <CallLink id={shadowOf} />, made for a shadow of the routing policy. What
        it answered went to nobody.
      </div>
    );
  if (shadows.length === 0) return null;
  return (
    <div className="card note copy-note">
      The routing policy had this call copied to another endpoint, after its answer:{' '}
      {shadows.map((id, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <CallLink id={id} />
        </span>
      ))}
    </div>
  );
}

/** The call as a command; its content is not kept here, so what was said stands as an ellipsis. */
function curlOf(call: Call): string {
  const messages = call.detail?.dialectIn === 'messages';
  const body = {
    model: call.model,
    ...(messages ? { max_tokens: 256 } : {}),
    ...(call.stream ? { stream: true } : {}),
    messages: [{ role: 'user', content: '…' }],
  };
  const path = messages ? '/v1/messages' : '/v1/chat/completions';
  return [
    `curl ${base_url}${path} \\`,
    `  -H "authorization: Bearer $GATEWAY_API_KEY" -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

function Loading() {
  return (
    <>
      <PageHead title={<Bone width={220} height={22} />}>
        <p>
          <Bone width={300} />
        </p>
      </PageHead>
      <div className="stack">
        <div className="card figures-room" />
        <div className="card route-room" />
      </div>
    </>
  );
}

function Detail({ call, generation }: { call: Call; generation: RequestDetailQuery['generation'] }) {
  const at = instantOf(call.ts);
  const moves = movesOf((call.detail?.attemptRows ?? []).map(({ endpointId }) => ({ endpoint: endpointId })));
  return (
    <>
      <PageHead
        title={
          <span className="request-title">
            <span>{call.model || 'Call that was lost'}</span>
            <RowStatus row={call} />
            {call.attempts > 1 && (
              <Status tone="warn" shape="half">
                {moves === 0
                  ? `tried ${call.attempts} times`
                  : `fell back ${moves === 1 ? 'once' : `${moves} times`}`}
              </Status>
            )}
          </span>
        }
        actions={<CopyButton text={curlOf(call)} what="the call as curl" label="Copy as curl" />}
      >
        <p className="row wrap">
          <IdText id={call.id} />
          <span>
            <Time at={call.ts} /> · <span className="num">{utcText(at).slice(11)}</span>
          </span>
        </p>
      </PageHead>
      <div className="stack">
        <Copies detail={call.detail} />
        <Figures call={call} />
        <Warnings warnings={call.detail?.warnings ?? []} />
        <RouteCard call={call} />
        <div className="split">
          <PriceCard call={call} cost={generation?.cost ?? null} />
          <SettlementCard call={call} />
        </div>
      </div>
    </>
  );
}

export function RequestPage() {
  const { slug, env } = useOrg();
  const { id } = useParams({ from: '/$org/$env/requests/$id' });
  const [{ data, error, fetching, stale }, again] = useQuery({
    query: RequestDetailDocument,
    variables: { id },
  });
  const call = data?.request;
  // A row can be read about a second after its call ended, and people come here at once.
  const tries = useRef(0);
  const incomplete = data !== undefined && !fetching && !stale && (!call || call.detail === null);
  useEffect(() => {
    if (!incomplete || tries.current >= TRIES) return;
    const timer = setTimeout(() => {
      tries.current++;
      again({ requestPolicy: 'network-only' });
    }, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [incomplete, again]);
  const waiting = !call && incomplete && tries.current < TRIES;

  return (
    <>
      <Link className="back" to="/$org/$env/requests" params={{ org: slug, env }}>
        <Icon name="arrow-left" size={14} />
        Requests
      </Link>
      {call && <Detail call={call} generation={data?.generation} />}
      {!call && error && (
        <div className="card">
          <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
        </div>
      )}
      {!call && !error && (data === undefined || waiting || fetching) && <Loading />}
      {!call && !error && data !== undefined && !waiting && !fetching && (
        <div className="card">
          <Empty
            page
            title="No such call here"
            actions={
              <Link className="btn" to="/$org/$env/requests" params={{ org: slug, env }}>
                All requests
              </Link>
            }
          >
            It may belong to another organisation, or its record has reached the end of its keeping.
          </Empty>
        </div>
      )}
    </>
  );
}
