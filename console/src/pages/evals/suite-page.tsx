// One suite: its cases by revision, its runs, and the way to run it.
import './evals.css';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { EvalSuiteDocument } from '../../api/gen/tools/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readEvalSuiteSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';
import { CasesCard } from './cases-card.tsx';
import { RunDialog } from './run-dialog.tsx';
import { Runs } from './runs-table.tsx';

const PATH = '/$org/$env/evals/suites/$id';

/** What is kept in the address, and how it changes. */
function usePlace() {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const { id } = useParams({ from: PATH });
  const search = readEvalSuiteSearch(useSearch({ from: PATH }));
  const go = (next: typeof search) =>
    void navigate({ to: PATH, params: { org: slug, env, id }, search: next, replace: true });
  return { id, search, go };
}

export function EvalSuitePage() {
  const { slug, env, role } = useOrg();
  const { id, search, go } = usePlace();
  const [{ data, error }, again] = useQuery({
    ...{ query: EvalSuiteDocument, variables: { id } },
    requestPolicy: 'cache-and-network',
  });
  const history = data?.evalSuiteHistory;
  const allowed = may(role, 'evals') && history !== null;
  const { run: _, ...calm } = search;
  const setRunning = (open: boolean) => go(open ? { ...calm, run: true } : calm);
  useShortcuts(allowed ? { c: () => setRunning(true) } : {});
  if (history === null && !error)
    return (
      <Empty title="No such suite here" page>
        It may have been deleted. Runs of it and their results are kept.
      </Empty>
    );
  const button = allowed && (
    <Button kind="primary" icon="player-play" aria-keyshortcuts="c" onClick={() => setRunning(true)}>
      Run
    </Button>
  );
  return (
    <>
      <PageHead title={history?.suite.name ?? 'Suite'} actions={button || undefined}>
        <p>
          <Link className="link" to="/$org/$env/evals" params={{ org: slug, env }}>
            All evals
          </Link>
        </p>
      </PageHead>
      <div className="stack">
        {error && !data && (
          <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
        )}
        {!history && !error && <Bone width={260} />}
        {history && (
          <CasesCard
            history={history}
            shown={search.revision ?? history.suite.revision}
            onChoose={(revision) => go({ ...search, revision })}
          />
        )}
        <Card title="Runs" note="Each keeps the revision that it began with." flush>
          <Runs suite={id} />
        </Card>
      </div>
      {search.run && allowed && history && (
        <RunDialog history={history} projects={data?.projects ?? []} onClose={() => setRunning(false)} />
      )}
    </>
  );
}
