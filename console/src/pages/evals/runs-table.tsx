// Rows of runs: how each stands, its score and what it cost.
import { Link } from '@tanstack/react-router';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { type EvalRunRowFragment, EvalRunsDocument } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { boundsText, markOfRun, scoreText, targetText } from './words.ts';

const PAGE = 20;

export function RunMark({ run }: { run: Pick<EvalRunRowFragment, 'status' | 'stopReason'> }) {
  const { tone, shape, word } = markOfRun(run);
  return (
    <Status tone={tone} shape={shape}>
      {word}
    </Status>
  );
}

function Line({ run }: { run: EvalRunRowFragment }) {
  const { slug, env } = useOrg();
  return (
    <tr>
      <td className="eval-name">
        <Link className="link" to="/$org/$env/evals/runs/$id" params={{ org: slug, env, id: run.id }}>
          {run.suiteName}
        </Link>
        <div className="sub">
          revision {run.suiteRevision}
          {run.environment === 'TEST' && ', sandbox'}
        </div>
      </td>
      <td>{run.targets.map((target) => targetText(target)).join(', ')}</td>
      <td>
        <RunMark run={run} />
      </td>
      <td className="n">
        {scoreText(run.score)}
        {run.score !== null && <div className="sub">{boundsText(run.scoreLow, run.scoreHigh)}</div>}
      </td>
      <td className="n">
        <Money micro={run.costMicro} />
      </td>
      <td className="soft">
        <Time at={run.createdAt} />
      </td>
    </tr>
  );
}

/** Runs, newest first; those of one suite where it is named. */
export function Runs({ suite }: { suite: string | null }) {
  const client = useClient();
  const variables = { first: PAGE, ...(suite === null ? {} : { suite }) };
  const [{ data, error }, again] = useQuery({
    ...{ query: EvalRunsDocument, variables },
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.evalRuns, async (after) => {
    const { data: page, error } = await client.query(EvalRunsDocument, { ...variables, after }).toPromise();
    return { page: page?.evalRuns, error };
  });
  if (error && !data)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0)
    return (
      <Empty title="No run yet">What models answered, how it was graded and what it cost stands here.</Empty>
    );
  return (
    <>
      <Table name="List of runs" busy={rows === undefined}>
        <Columns
          of={[
            ...['Suite', 'Models', 'State'],
            { name: 'Score', className: 'n' },
            { name: 'Cost', className: 'n' },
            'Started',
          ]}
        />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={3} columns={6} />
          ) : (
            rows.map((run) => <Line key={run.id} run={run} />)
          )}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="runs" {...older} />
    </>
  );
}
