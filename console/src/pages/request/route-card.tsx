// The route as a picture: one track per endpoint, one axis of time for all attempts. For screen readers each track is
// a row with its words; the bars are decoration.
import { type CSSProperties, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { durationText } from '../../ui/format/numbers.ts';
import { instantOf } from '../../ui/format/time.ts';
import { Status } from '../../ui/status.tsx';
import { type Bar, type CallFacts, explain, picture, reasonText, type Track } from './explain.ts';
import type { Call } from './page.tsx';

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
    })),
    cost_micro: call.costMicro,
    start_ms: instantOf(call.ts).getTime(),
  };
}

/** What all tracks of a call have in common. */
interface Axis {
  readonly ticks: readonly number[];
  readonly end_ms: number;
  /** How many attempts there were, over all endpoints. */
  readonly attempts: number;
}

const share = (value: number) => `${Math.min(1, Math.max(0, value)) * 100}%`;

/** "first token after 402 ms, then 412 tokens/s", or what went wrong. */
function words({ attempt, number }: Bar, total: number, output_tokens: number): string {
  const which = total > 1 ? `attempt ${number} · ` : '';
  if (!attempt.ok && !attempt.cancelled) {
    const status = attempt.http_status > 0 ? `${attempt.http_status} ` : '';
    return `${status}${attempt.fault.replaceAll('_', ' ')} after ${durationText(attempt.duration_ms)}`;
  }
  const streaming = (attempt.duration_ms ?? 0) - (attempt.ttft_ms ?? 0);
  const rate =
    attempt.ok && output_tokens > 0 && streaming > 50 ? Math.round((output_tokens * 1000) / streaming) : null;
  const first = `first token after ${durationText(attempt.ttft_ms)}`;
  return `${which}${attempt.cancelled ? 'left by the caller, ' : ''}${first}${rate === null ? '' : `, then ${rate} tokens/s`}`;
}

function BarShape({ bar: { attempt, from, wait, stream } }: { bar: Bar }) {
  const failed = !attempt.ok && !attempt.cancelled;
  return (
    <>
      <i
        className={`track-wait${failed ? ' failed' : ''}`}
        data-alone={failed || stream === 0 || undefined}
        style={{ left: share(from), width: share(wait) }}
      />
      {!failed && stream > 0 && (
        <i className="track-stream" style={{ left: share(from + wait), width: share(stream) }} />
      )}
    </>
  );
}

/** The label of a track, one for all its bars: inside a long bar, otherwise on the side with more room. */
function TrackLabel({
  bars,
  total,
  output_tokens,
}: {
  bars: readonly Bar[];
  total: number;
  output_tokens: number;
}) {
  const [first] = bars;
  const last = bars.at(-1);
  if (first === undefined || last === undefined) return null;
  const end = last.from + last.wait + last.stream;
  const inside = bars.length === 1 && last.attempt.ok && last.stream > 0.48;
  const before = !inside && first.from > 1 - end;
  // Custom properties, so that the narrow layout can put the label below the bar instead.
  let place: Record<`--${string}`, string> = { '--left': `calc(${share(end)} + 8px)` };
  if (inside) place = { '--left': `calc(${share(last.from + last.wait)} + 10px)` };
  if (before) place = { '--right': `calc(${share(1 - first.from)} + 8px)` };
  const failed = bars.every(({ attempt }) => !attempt.ok && !attempt.cancelled);
  const text = bars.map((bar) => words(bar, total, output_tokens)).join(', then ');
  return (
    <span className={`track-label${inside ? ' inside' : ''}`} style={place as CSSProperties}>
      {failed ? (
        <Status tone="bad" plain>
          {text}
        </Status>
      ) : (
        text
      )}
    </span>
  );
}

/** What happened at an endpoint: its attempts, why it was left out, or that it was not needed. */
function TrackContent({ track: { fact, bars }, axis, call }: { track: Track; axis: Axis; call: Call }) {
  if (bars.length > 0) {
    return (
      <span className="track">
        {axis.ticks.slice(1, -1).map((tick) => (
          <u key={tick} style={{ left: share(tick / axis.end_ms) }} />
        ))}
        {bars.map((bar) => (
          <BarShape key={bar.number} bar={bar} />
        ))}
        <TrackLabel bars={bars} total={axis.attempts} output_tokens={call.outputTokens} />
      </span>
    );
  }
  if (fact.excluded_by !== null) {
    return (
      <span className="track-why">
        <Status tone="mute">{fact.excluded_by.replaceAll('_', ' ')}</Status>
        {reasonText(fact.excluded_by)}
      </span>
    );
  }
  return (
    <span className="track-why">
      <Status tone="mute" shape="half">
        not needed
      </Status>
      {fact.planned_at !== null && `place ${fact.planned_at} of the plan`}
    </span>
  );
}

function TrackRow({ track, axis, call }: { track: Track; axis: Axis; call: Call }) {
  const { fact, bars } = track;
  const name = fact.provider ?? 'unknown';
  return (
    <tr className="track-row" data-off={bars.length === 0 && fact.excluded_by !== null ? true : undefined}>
      <th scope="row" className="track-name">
        <span className="provider" aria-hidden="true">
          {name.charAt(0).toUpperCase()}
        </span>
        <span className="two ellipsis" title={fact.endpoint}>
          <b className="ellipsis">{name}</b>
          <span className="sub ellipsis">{fact.region ?? ''}</span>
        </span>
      </th>
      <td className="track-score num">{fact.score === null ? '–' : fact.score.toFixed(3)}</td>
      <td className="track-cell">
        <TrackContent track={track} axis={axis} call={call} />
      </td>
    </tr>
  );
}

/** A tick of the axis: seconds from one second on. */
function tickText(ms: number, end_ms: number): string {
  return end_ms >= 1_000 ? `${Number((ms / 1000).toFixed(2))} s` : `${Number(ms.toFixed(1))} ms`;
}

function RouteTable({ tracks, axis, call }: { tracks: readonly Track[]; axis: Axis; call: Call }) {
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
          <TrackRow key={track.fact.endpoint} track={track} axis={axis} call={call} />
        ))}
      </tbody>
    </table>
  );
}

function Legend() {
  return (
    <>
      <span>
        <i className="key track-wait" /> waiting for the first token
      </span>
      <span>
        <i className="key track-stream" /> streaming to the caller
      </span>
      <span>
        <i className="key track-wait failed" /> failed, not charged
      </span>
    </>
  );
}

/** "policy cheap v3 · rule nights · sort price". */
function policyText(route: NonNullable<Call['route']>): string {
  const policy = route.policy === 'default' ? 'built-in policy' : `policy ${route.policy}`;
  const version = route.version ? ` v${route.version}` : '';
  const rule = route.rule !== '-' && route.rule !== '' ? ` · rule ${route.rule}` : '';
  return `${policy}${version}${rule} · sort ${route.sort}`;
}

export function RouteCard({ call }: { call: Call }) {
  const [raw, setRaw] = useState(false);
  const facts = factsOf(call);
  const { tracks, end_ms, ticks } = picture(facts);
  const trace = call.detail?.routeTrace;
  return (
    <Card title="Route" note={call.route ? policyText(call.route) : undefined} flush>
      <p className="route-sentence">
        {explain(facts).map((part, i) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence have no other name
          typeof part === 'string' ? part : <b key={i}>{part.strong}</b>,
        )}
      </p>
      {tracks.length > 0 && (
        <RouteTable tracks={tracks} axis={{ ticks, end_ms, attempts: facts.attempts.length }} call={call} />
      )}
      <div className="route-foot sub">
        {facts.attempts.length > 0 && <Legend />}
        {typeof trace === 'string' && (
          <Button kind="quiet" aria-expanded={raw} onClick={() => setRaw(!raw)}>
            {raw ? 'Hide raw trace' : 'Raw trace'}
          </Button>
        )}
      </div>
      {raw && typeof trace === 'string' && (
        <pre className="code raw-trace">{trace.split('; ').join(';\n')}</pre>
      )}
    </Card>
  );
}
