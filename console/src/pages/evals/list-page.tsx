// The page of evaluations: suites of cases, and the newest runs of them.
import './evals.css';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { EvalSuitesDocument, type EvalSuitesQuery } from '../../api/gen/tools/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { SuiteFileDialog } from './edit/file-dialog.tsx';
import { NewSuiteDialog } from './edit/suite-dialogs.tsx';
import { Runs } from './runs-table.tsx';

type Suite = NonNullable<EvalSuitesQuery['evalSuites']>['nodes'][number];

const PAGE = 20;

function Line({ suite }: { suite: Suite }) {
  const { slug, env } = useOrg();
  return (
    <tr>
      <td className="eval-name">
        <Link className="link" to="/$org/$env/evals/suites/$id" params={{ org: slug, env, id: suite.id }}>
          {suite.name}
        </Link>
      </td>
      <td className="n">{countText(suite.caseCount)}</td>
      <td className="n">{suite.revision}</td>
      <td className="soft">
        <Time at={suite.updatedAt} />
      </td>
    </tr>
  );
}

function Suites() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    ...{ query: EvalSuitesDocument, variables: { first: PAGE } },
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.evalSuites, async (after) => {
    const { data: page, error } = await client.query(EvalSuitesDocument, { first: PAGE, after }).toPromise();
    return { page: page?.evalSuites, error };
  });
  if (error && !data)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0)
    return (
      <Empty title="No suite yet">
        A suite holds questions with what a right answer is. Make one here, over the API, or bring one from
        another tool: <code>svcctl evals import promptfooconfig.yaml</code>
      </Empty>
    );
  return (
    <>
      <Table name="List of suites" busy={rows === undefined}>
        <Columns
          of={['Name', { name: 'Cases', className: 'n' }, { name: 'Revision', className: 'n' }, 'Changed']}
        />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={3} columns={4} />
          ) : (
            rows.map((suite) => <Line key={suite.id} suite={suite} />)
          )}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="suites" {...older} />
    </>
  );
}

export function EvalsPage() {
  const { role } = useOrg();
  const [making, setMaking] = useState<'form' | 'file' | null>(null);
  const allowed = may(role, 'evals');
  useShortcuts(allowed ? { c: () => setMaking('form') } : {});
  const buttons = allowed && (
    <>
      <Button onClick={() => setMaking('file')}>From a file…</Button>
      <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setMaking('form')}>
        New suite
      </Button>
    </>
  );
  return (
    <>
      <PageHead title="Evals" actions={buttons || undefined}>
        <p>Which model answers your own cases best, and at what cost.</p>
      </PageHead>
      <div className="stack">
        <Card title="Suites" flush>
          <Suites />
        </Card>
        <Card title="Runs" note="Of all suites, newest first." flush>
          <Runs suite={null} />
        </Card>
      </div>
      {making === 'form' && <NewSuiteDialog onClose={() => setMaking(null)} />}
      {making === 'file' && <SuiteFileDialog onClose={() => setMaking(null)} />}
    </>
  );
}
