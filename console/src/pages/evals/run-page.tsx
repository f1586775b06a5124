// One run: how far it is, the score of each target, each answer, and how it stands to others.
import './evals.css';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  CancelEvalRunDocument,
  EvalRunDocument,
  type EvalRunRowFragment,
  EvalRunUpdatedDocument,
} from '../../api/gen/tools/graphql.ts';
import { latestOf } from '../../api/live.ts';
import { useSend } from '../../api/send.ts';
import { useLive } from '../../api/use-live.ts';
import { may, useOrg } from '../../app/org.tsx';
import { type EvalRunSearch, readEvalRunSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { Bone, Empty, ErrorBox, FormFault } from '../../ui/states.tsx';
import { CompareCard } from './compare-card.tsx';
import { ProgressCard, TargetsCard } from './progress-card.tsx';
import { ResultsCard } from './results-card.tsx';

const PATH = '/$org/$env/evals/runs/$id';

const isOver = ({ finishedAt }: EvalRunRowFragment) => finishedAt !== null;

/** The run, followed until it has ended. */
function useRun(id: string) {
  const [{ data, error }, again] = useQuery({
    ...{ query: EvalRunDocument, variables: { id } },
    requestPolicy: 'cache-and-network',
  });
  const [news, setNews] = useState<EvalRunRowFragment | null>(null);
  const read = data?.evalRun;
  const run = latestOf(read, news?.id === id ? news : null, isOver);
  const reread = () => again({ requestPolicy: 'network-only' });
  const live = useLive({
    document: EvalRunUpdatedDocument,
    variables: read && !isOver(read) ? { id } : null,
    onData: ({ evalRunUpdated }) => {
      setNews(evalRunUpdated ?? null);
      reread();
    },
    onBack: reread,
    isLast: ({ evalRunUpdated }) => (evalRunUpdated?.finishedAt ?? null) !== null,
  });
  return { run, scores: data?.evalTargets ?? [], live, error, reread, setNews };
}

function CancelDialog(props: { id: string; onClose: () => void; onDone: (run: EvalRunRowFragment) => void }) {
  const { busy, fault, send } = useSend();
  const cancel = async () => {
    const done = await send(CancelEvalRunDocument, { id: props.id });
    if (done !== null) props.onDone(done.run);
  };
  return (
    <Dialog
      title="Cancel the run?"
      note="No more calls begin. Those under way end, are charged and are kept."
      onClose={props.onClose}
      size={420}
    >
      <FormFault fault={fault} />
      <DialogFoot cautious kind="danger" busy={busy} onClose={props.onClose} onPress={() => void cancel()}>
        Cancel the run
      </DialogFoot>
    </Dialog>
  );
}

function usePlace() {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const { id } = useParams({ from: PATH });
  const search = readEvalRunSearch(useSearch({ from: PATH }));
  const go = (next: EvalRunSearch) =>
    void navigate({ to: PATH, params: { org: slug, env, id }, search: next, replace: true });
  return { id, search, go };
}

/** The revision that the run keeps. */
function SuiteLink({ run }: { run: EvalRunRowFragment }) {
  const { slug, env } = useOrg();
  return (
    <Link
      className="link"
      to="/$org/$env/evals/suites/$id"
      params={{ org: slug, env, id: run.suiteId }}
      search={{ revision: run.suiteRevision }}
    >
      Suite, revision {run.suiteRevision}
    </Link>
  );
}

export function EvalRunPage() {
  const { role } = useOrg();
  const { id, search, go } = usePlace();
  const { run, scores, live, error, reread, setNews } = useRun(id);
  const [asking, setAsking] = useState(false);
  const open = Boolean(run && !isOver(run) && run.stopReason === '');
  const cancellable = open && may(role, 'evals');
  useShortcuts(cancellable ? { c: () => setAsking(true) } : {});
  if (run === null && !error)
    return (
      <Empty title="No such run here" page>
        The address names no run of this organisation.
      </Empty>
    );
  return (
    <>
      <PageHead
        title={run?.suiteName ?? 'Run'}
        actions={
          cancellable && (
            <Button aria-keyshortcuts="c" icon="x" onClick={() => setAsking(true)}>
              Cancel
            </Button>
          )
        }
      >
        <p>{run && <SuiteLink run={run} />}</p>
      </PageHead>
      <div className="stack">
        {error && !run && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {!run && !error && <Bone width={260} />}
        {run && (
          <>
            <ProgressCard run={run} live={live} />
            <TargetsCard scores={scores} />
            {isOver(run) && <CompareCard run={run} search={search} onChange={go} />}
            <ResultsCard run={run} search={search} onChange={go} />
          </>
        )}
      </div>
      {asking && cancellable && (
        <CancelDialog
          id={id}
          onClose={() => setAsking(false)}
          onDone={(cancelled) => {
            setAsking(false);
            setNews(cancelled);
          }}
        />
      )}
    </>
  );
}
