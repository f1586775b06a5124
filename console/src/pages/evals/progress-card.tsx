// How far a run is, what it has cost of its budget, and the score of each target.
import type { ReactNode } from 'react';
import type { EvalRunQuery, EvalRunRowFragment } from '../../api/gen/tools/graphql.ts';
import type { LiveState } from '../../api/use-live.ts';
import { Card } from '../../ui/card.tsx';
import { countText, plural } from '../../ui/format/numbers.ts';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Money } from '../../ui/money.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { RunMark } from './runs-table.tsx';
import { boundsText, scoreText, targetText } from './words.ts';

type Score = NonNullable<EvalRunQuery['evalTargets']>[number];

function Facts({ run }: { run: EvalRunRowFragment }) {
  const { counts } = run;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Passed', countText(counts.passed)],
    ['Failed', countText(counts.failed)],
    ['Errors', countText(counts.errors)],
    ['Skipped', countText(counts.skipped)],
    ['Cost', <Money key="cost" micro={run.costMicro} />],
    ['Budget', <Money key="budget" micro={run.budgetMicro} />],
    ['At most', <Money key="estimate" micro={run.estimateMicro} />],
    ['Written off', <Money key="off" micro={run.writtenOffMicro} />],
    ['Started', <Time key="started" at={run.startedAt} />],
    ['Ended', <Time key="ended" at={run.finishedAt} />],
  ];
  return (
    <dl className="eval-facts num">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The share that is answered, as a bar; the words beside it say the same. */
function Bar({ run }: { run: EvalRunRowFragment }) {
  const { done, total } = run.counts;
  return (
    <div className="eval-progress">
      <progress className="eval-bar" aria-label="Answers" max={total} value={done} />
      <span className="num">
        {countText(done)} of {plural(total, 'answer')}
      </span>
    </div>
  );
}

export function ProgressCard({ run, live }: { run: EvalRunRowFragment; live: LiveState }) {
  const over = run.finishedAt !== null;
  return (
    <Card title="Progress" note={<RunMark run={run} />} more={!over && <LiveMark state={live} />}>
      <Bar run={run} />
      <Facts run={run} />
    </Card>
  );
}

export function TargetsCard({ scores }: { scores: readonly Score[] }) {
  return (
    <Card title="Targets" note="Scores with the bounds of 95 %, over cases drawn again." flush>
      <Table name="Scores of targets">
        <Columns
          of={[
            'Target',
            { name: 'Score', className: 'n' },
            { name: 'Between', className: 'n' },
            { name: 'Answers', className: 'n' },
            { name: 'Errors', className: 'n' },
            { name: 'Cost', className: 'n' },
          ]}
        />
        <tbody>
          {scores.map((one) => (
            <tr key={targetText(one.target)}>
              <td className="eval-name">{targetText(one.target)}</td>
              <td className="n">{one.answers === 0 ? '–' : scoreText(one.score)}</td>
              <td className="n soft">{one.answers === 0 ? '–' : boundsText(one.scoreLow, one.scoreHigh)}</td>
              <td className="n">{countText(one.answers)}</td>
              <td className="n">{countText(one.errors)}</td>
              <td className="n">
                <Money micro={one.costMicro} />
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}
