// One suite: its cases by revision, its runs, and the way to run it.
import './evals.css';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { EvalSuiteDocument, type EvalSuiteQuery } from '../../api/gen/tools/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readEvalSuiteSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';
import { type CaseActs, CasesCard } from './cases-card.tsx';
import { AddCaseDialog, EditCaseDialog, RemoveCaseDialog } from './edit/case-dialog.tsx';
import { DeleteSuiteDialog, RenameSuiteDialog } from './edit/suite-dialogs.tsx';
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

/** What a person is doing to the suite. */
type Doing =
  | { readonly what: 'add' | 'rename' | 'delete' }
  | { readonly what: 'edit' | 'remove'; readonly case_id: string };

function DoingDialog(props: {
  doing: Doing;
  suite: NonNullable<EvalSuiteQuery['evalSuiteHistory']>['suite'];
  onClose: () => void;
  onDone: () => void;
}) {
  const { doing, suite, ...ends } = props;
  const of = { suite_id: suite.id, ...ends };
  switch (doing.what) {
    case 'add':
      return <AddCaseDialog {...of} />;
    case 'edit':
      return <EditCaseDialog {...of} case_id={doing.case_id} />;
    case 'remove':
      return <RemoveCaseDialog {...of} case_id={doing.case_id} revision={suite.revision} />;
    case 'rename':
      return <RenameSuiteDialog suite={suite} {...ends} />;
    case 'delete':
      return <DeleteSuiteDialog suite={suite} onClose={ends.onClose} />;
  }
}

function actsOf(onDo: (doing: Doing) => void): CaseActs {
  return {
    onAdd: () => onDo({ what: 'add' }),
    onEdit: (case_id) => onDo({ what: 'edit', case_id }),
    onRemove: (case_id) => onDo({ what: 'remove', case_id }),
  };
}

function Actions({ onDo, onRun }: { onDo: (doing: Doing) => void; onRun: () => void }) {
  return (
    <>
      <Button onClick={() => onDo({ what: 'rename' })}>Rename…</Button>
      <Button onClick={() => onDo({ what: 'delete' })}>Delete…</Button>
      <Button kind="primary" icon="player-play" aria-keyshortcuts="c" onClick={onRun}>
        Run
      </Button>
    </>
  );
}

function NoSuite() {
  return (
    <Empty title="No such suite here" page>
      It may have been deleted. Runs of it and their results are kept.
    </Empty>
  );
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
  const [doing, setDoing] = useState<Doing | null>(null);
  const shown = search.revision ?? history?.suite.revision;
  // An older revision is read, and not changed.
  const acts = allowed && shown === history?.suite.revision ? actsOf(setDoing) : null;
  const done = () => {
    setDoing(null);
    go({});
    again({ requestPolicy: 'network-only' });
  };
  useShortcuts({ ...(allowed ? { c: () => setRunning(true) } : {}), ...(acts ? { a: acts.onAdd } : {}) });
  if (history === null && !error) return <NoSuite />;
  const actions = allowed && <Actions onDo={setDoing} onRun={() => setRunning(true)} />;
  return (
    <>
      <PageHead title={history?.suite.name ?? 'Suite'} actions={actions || undefined}>
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
            acts={acts}
          />
        )}
        <Card title="Runs" note="Each keeps the revision that it began with." flush>
          <Runs suite={id} />
        </Card>
      </div>
      {doing && allowed && history && (
        <DoingDialog doing={doing} suite={history.suite} onClose={() => setDoing(null)} onDone={done} />
      )}
      {search.run && allowed && history && (
        <RunDialog history={history} projects={data?.projects ?? []} onClose={() => setRunning(false)} />
      )}
    </>
  );
}
