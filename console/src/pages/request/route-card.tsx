// The route as a picture: one track per endpoint, one axis of time for all attempts. For screen readers each track is
// a row with its words; the bars are decoration.
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { instantOf } from '../../ui/format/time.ts';
import { Status } from '../../ui/status.tsx';
import {
  attemptText,
  type CallFacts,
  type EndpointFact,
  explain,
  policyText,
  reasonText,
} from './explain.ts';
import type { Call } from './page.tsx';
import { type Bar, type Fold, picture, type Stretch, type Track } from './picture.ts';

function leftOf({ route }: Call): CallFacts['left'] {
  if (!route?.left) return null;
  const { ms, readOn } = route.left;
  return { ms, read_on: (readOn?.toLowerCase() ?? null) as NonNullable<CallFacts['left']>['read_on'] };
}

export function factsOf(call: Call): CallFacts {
  const rows = (call.detail?.attemptRows ?? []).toSorted((a, b) => a.attempt - b.attempt);
  return {
    status: call.status.toLowerCase() as CallFacts['status'],
    error_code: call.errorCode,
    candidates: call.route?.candidates ?? 0,
    hidden: call.route?.hidden ?? 0,
    endpoints: (call.route?.endpoints ?? []).map((each) => ({
      endpoint: each.endpoint,
      provider: each.provider,
      region: each.region,
      score: each.score,
      planned_at: each.plannedAt,
      excluded_by: each.excludedBy,
    })),
    attempts: rows.map((row) => ({
      endpoint: row.endpointId,
      provider: row.provider,
      at_ms: instantOf(row.ts).getTime(),
      ok: row.outcome === 'OK',
      cancelled: row.outcome === 'CANCELLED',
      http_status: row.httpStatus,
      fault: row.errorClass,
      ttft_ms: row.ttftMs,
      duration_ms: row.durationMs,
      own_key: row.keyHint,
    })),
    cost_micro: call.costMicro,
    start_ms: instantOf(call.ts).getTime(),
    left: leftOf(call),
  };
}

/** What all tracks of a call have in common. */
interface Axis {
  readonly ticks: readonly number[];
  readonly end_ms: number;
  /** How many attempts there were, over all endpoints. */
  readonly attempts: number;
  readonly output_tokens: number;
}

const share = (value: number) => `${Math.min(1, Math.max(0, value)) * 100}%`;

/** The bars of one endpoint, and below them its words: each begins below its bar where there is room for it. */
function Bars({ bars, axis }: { bars: readonly Bar[]; axis: Axis }) {
  return (
    <>
      <span className="track" aria-hidden="true">
        {axis.ticks.slice(1, -1).map((tick) => (
          <u key={tick} style={{ left: share(tick / axis.end_ms) }} />
        ))}
        {bars.flatMap(({ number, stretches, left_ms }) => [
          ...stretches.map(({ what, from, width }) => (
            <i
              key={`${number} ${what}`}
              className={`stretch ${what}`}
              style={{ left: share(from), width: share(width) }}
            />
          )),
          left_ms !== null && (
            <i
              key={`${number} left`}
              className="stretch-left"
              style={{ left: share(left_ms / axis.end_ms) }}
            />
          ),
        ])}
      </span>
      {bars.map((bar) => (
        <BarWords key={bar.number} bar={bar} axis={axis} />
      ))}
    </>
  );
}

function BarWords({ bar, axis }: { bar: Bar; axis: Axis }) {
  const { attempt, number, left_ms, stretches } = bar;
  const { attempts: total, output_tokens } = axis;
  const text = attemptText(attempt, { number, total, output_tokens, left_ms });
  return (
    <span className="track-words">
      {/* Gives way as far as the words need its room. */}
      <span className="track-space" style={{ flexBasis: share(stretches[0]?.from ?? 0) }} />
      <span className="track-label">
        {attempt.ok || attempt.cancelled ? (
          text
        ) : (
          <Status tone="bad" plain>
            {text}
          </Status>
        )}
      </span>
    </span>
  );
}

function NotTried({ reason, children }: { reason: string | null; children?: ReactNode }) {
  return (
    <span className="track-why">
      <Status tone="mute" shape={reason === null ? 'half' : 'mute'}>
        {reason === null ? 'not needed' : reason.replaceAll('_', ' ')}
      </Status>
      {reason !== null && <span>{reasonText(reason)}</span>}
      {children}
    </span>
  );
}

/** What happened at an endpoint: its attempts, why it was left out, or that it was not needed. */
function TrackContent({ track: { fact, bars }, axis }: { track: Track; axis: Axis }) {
  if (bars.length > 0) return <Bars bars={bars} axis={axis} />;
  if (fact.excluded_by !== null) return <NotTried reason={fact.excluded_by} />;
  return (
    <NotTried reason={null}>
      {fact.planned_at !== null && <span>place {fact.planned_at} of the plan</span>}
    </NotTried>
  );
}

const nameOf = ({ provider }: EndpointFact) => provider || 'unknown';

function TrackRow({ track, axis }: { track: Track; axis: Axis }) {
  const { fact, bars } = track;
  const name = nameOf(fact);
  return (
    <tr className="track-row" data-off={bars.length === 0 && fact.excluded_by !== null ? true : undefined}>
      <th scope="row" className="track-name">
        <span className="provider" aria-hidden="true">
          {name.charAt(0).toUpperCase()}
        </span>
        <span className="two ellipsis" title={`${name} ${fact.endpoint}`}>
          <b className="ellipsis">{name}</b>
          <span className="sub ellipsis">{fact.region ?? ''}</span>
        </span>
      </th>
      <td className="track-score num">{fact.score === null ? '–' : fact.score.toFixed(3)}</td>
      <td className="track-cell">
        <TrackContent track={track} axis={axis} />
      </td>
    </tr>
  );
}

const NAMES_MAX = 8;

/** Endpoints that took no part for one reason, by name as far as a line or two hold them. */
function FoldRow({ fold: { reason, facts } }: { fold: Fold }) {
  const unique = [...new Set(facts.map(nameOf))];
  const names = unique.slice(0, NAMES_MAX).join(', ');
  const more = unique.length - NAMES_MAX;
  return (
    <tr className="track-row" data-off={reason !== null || undefined}>
      <th scope="row" className="track-name fold">
        {plural(facts.length, 'endpoint')}
      </th>
      <td className="track-score">–</td>
      <td className="track-cell">
        <NotTried reason={reason}>
          <span className="fold-names">{more > 0 ? `${names} and ${more} more` : names}</span>
        </NotTried>
      </td>
    </tr>
  );
}

/** A tick of the axis: seconds from one second on. */
function tickText(ms: number, end_ms: number): string {
  return end_ms >= 1_000 ? `${Number((ms / 1000).toFixed(2))} s` : `${Number(ms.toFixed(1))} ms`;
}

function RouteTable({
  tracks,
  folds,
  axis,
}: {
  tracks: readonly Track[];
  folds: readonly Fold[];
  axis: Axis;
}) {
  return (
    <table className="route">
      <caption className="visually-hidden">Endpoints of this call, and what happened at each</caption>
      <thead>
        <tr className="track-head sub">
          <th scope="col">Endpoint</th>
          <th scope="col" className="track-score">
            Score
          </th>
          <th scope="col" className="track-axis num">
            <span className="visually-hidden">What happened</span>
            {axis.ticks.map((tick) => (
              <i key={tick} style={{ left: share(tick / axis.end_ms) }} aria-hidden="true">
                {tickText(tick, axis.end_ms)}
              </i>
            ))}
          </th>
        </tr>
      </thead>
      <tbody>
        {tracks.map((track) => (
          <TrackRow key={track.fact.endpoint} track={track} axis={axis} />
        ))}
        {folds.map((fold) => (
          <FoldRow key={fold.reason ?? ''} fold={fold} />
        ))}
      </tbody>
    </table>
  );
}

const meanings: readonly (readonly [Stretch, string])[] = [
  ['wait', 'waiting for the first token'],
  ['stream', 'streaming to the caller'],
  ['after', 'read on after the caller left'],
  ['failed', 'failed'],
  ['broken', 'broke off'],
];

/** What the shapes mean: those that the picture has. */
function Legend({ tracks }: { tracks: readonly Track[] }) {
  const shown = new Set(
    tracks.flatMap(({ bars }) => bars.flatMap(({ stretches }) => stretches.map(({ what }) => what))),
  );
  return meanings
    .filter(([what]) => shown.has(what))
    .map(([what, text]) => (
      <span key={what}>
        <i className={`key stretch ${what}`} /> {text}
      </span>
    ));
}

export function RouteCard({ call }: { call: Call }) {
  const [raw, setRaw] = useState(false);
  const [all, setAll] = useState(false);
  const facts = factsOf(call);
  const { tracks, folds, end_ms, ticks } = picture(facts, all);
  const axis = { ticks, end_ms, attempts: facts.attempts.length, output_tokens: call.outputTokens };
  const trace = call.detail?.routeTrace;
  return (
    <Card title="Route" note={call.route ? policyText(call.route) : undefined} flush>
      <p className="route-sentence">
        {explain(facts).map((part, i) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence have no other name
          typeof part === 'string' ? part : <b key={i}>{part.strong}</b>,
        )}
      </p>
      {tracks.length + folds.length > 0 && <RouteTable tracks={tracks} folds={folds} axis={axis} />}
      <div className="route-foot sub">
        <Legend tracks={tracks} />
        <span className="route-more">
          {(all || folds.length > 0) && (
            <Button kind="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? 'Show fewer' : `Show all ${plural(facts.endpoints.length, 'endpoint')}`}
            </Button>
          )}
          {typeof trace === 'string' && (
            <Button kind="quiet" aria-expanded={raw} onClick={() => setRaw(!raw)}>
              {raw ? 'Hide raw trace' : 'Raw trace'}
            </Button>
          )}
        </span>
      </div>
      {raw && typeof trace === 'string' && (
        <pre className="code raw-trace">{trace.split('; ').join(';\n')}</pre>
      )}
    </Card>
  );
}
