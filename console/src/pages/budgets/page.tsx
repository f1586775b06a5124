// The page of budgets: what projects and keys may spend, how much they may call, when that is used up, and who is warned.
import './budgets.css';
import { useCallback, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type BudgetKeyFragment,
  type BudgetRowFragment,
  BudgetsDocument,
  type BudgetsQuery,
  LimitRequestsDocument,
  ResumeKeyBudgetDocument,
  ResumeProjectDocument,
} from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { may, useOrg } from '../../app/org.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Empty, ErrorBox, FormFault } from '../../ui/states.tsx';
import { BalanceCard } from './balance-card.tsx';
import { type Budgeted, EditBudgetDialog } from './edit-dialog.tsx';
import { KeyBudgetTable } from './key-table.tsx';
import { type LimitedKey, LimitsCard } from './limits-card.tsx';
import { ProjectsCard } from './projects-card.tsx';
import { RequestDialog } from './request-dialog.tsx';
import { RequestsCard } from './requests-card.tsx';

/** Lifts the pause of a project or key whose budget is spent. */
function useResume(onDone: () => void) {
  const { send, fault } = useSend();
  const resume = async (kind: Budgeted['kind'], id: string) => {
    const done =
      kind === 'project'
        ? await send(ResumeProjectDocument, { id })
        : await send(ResumeKeyBudgetDocument, { id });
    if (done !== null) onDone();
  };
  return { resume, fault };
}

function ofProject({ id, name, budget, alerts }: BudgetRowFragment): Budgeted {
  return { kind: 'project', id, name, micro: budget.monthlyMicro ?? null, hard: budget.hard, alerts };
}

function ofKey({ id, name, budget, alerts }: BudgetKeyFragment): Budgeted {
  return { kind: 'key', id, name, micro: budget.dailyMicro ?? null, hard: budget.hard, alerts };
}

/** The budgets; the second query is of requests, which not every role reads. */
function useBudgets(reads_requests: boolean) {
  const { environment } = useOrg();
  const variables = { environment };
  const [{ data, error }, again] = useQuery({ query: BudgetsDocument, variables });
  const [requests, askAgain] = useQuery({
    ...{ query: LimitRequestsDocument, variables, pause: !reads_requests },
  });
  const reread = useCallback(() => {
    again({ requestPolicy: 'network-only' });
    if (reads_requests) askAgain({ requestPolicy: 'network-only' });
  }, [again, askAgain, reads_requests]);
  return { data, error, requests: requests.data?.limitRequests?.nodes ?? [], reread };
}

interface Acts {
  readonly allowed: boolean;
  readonly onEdit: (budgeted: Budgeted) => void;
  readonly onResume: (kind: Budgeted['kind'], id: string) => void;
  readonly onChanged: (said: string) => void;
}

function BudgetCards({ data, acts }: { data: BudgetsQuery | undefined; acts: Acts }) {
  const { environment } = useOrg();
  const [now] = useState(() => new Date());
  const { allowed, onEdit, onResume, onChanged } = acts;
  const keys = data?.keys?.nodes.filter(({ status }) => status === 'ACTIVE');
  const spent = new Map(data?.limits?.keys.map((key) => [key.keyId, key.spendTodayMicro]) ?? []);
  return (
    <>
      <ProjectsCard
        rows={data?.projects?.filter((row) => row.environment === environment)}
        now={now}
        allowed={allowed}
        onEdit={(row) => onEdit(ofProject(row))}
        onResume={({ id }) => onResume('project', id)}
        onChanged={onChanged}
      />
      <Card title="Keys" note="The calls that began in a UTC day." flush>
        {keys?.length === 0 ? (
          <Empty title="No key yet">A key can have a budget of its own for each day.</Empty>
        ) : (
          <KeyBudgetTable
            rows={keys}
            spent={spent}
            allowed={allowed}
            onEdit={(row) => onEdit(ofKey(row))}
            onResume={({ id }) => onResume('key', id)}
          />
        )}
      </Card>
    </>
  );
}

function Dialogs(props: {
  edited: Budgeted | null;
  asking: LimitedKey | null;
  data: BudgetsQuery | undefined;
  onClose: () => void;
  onDone: (said: string | null) => void;
}) {
  const { edited, asking, data, onClose, onDone } = props;
  return (
    <>
      {edited && <EditBudgetDialog budgeted={edited} onClose={onClose} onDone={() => onDone(null)} />}
      {asking && data?.limits && (
        <RequestDialog row={asking} plan={data.limits.plan} onClose={onClose} onDone={onDone} />
      )}
    </>
  );
}

export function BudgetsPage() {
  const { role, env } = useOrg();
  const allowed = may(role, 'keys');
  const { data, error, requests, reread } = useBudgets(allowed);
  const [edited, setEdited] = useState<Budgeted | null>(null);
  const [asking, setAsking] = useState<LimitedKey | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const { resume, fault } = useResume(reread);
  const close = () => {
    setEdited(null);
    setAsking(null);
  };
  const done = (words: string | null) => {
    close();
    setSaid(words);
    reread();
  };
  const acts = {
    allowed,
    onEdit: setEdited,
    onResume: (kind: Budgeted['kind'], id: string) => void resume(kind, id),
    onChanged: done,
  };
  return (
    <>
      <PageHead title="Budgets & alerts">
        <p>What may be spent and called, and who is warned.</p>
      </PageHead>
      <div role="status" className="budget-said">
        {said && <div className="card note">{said}</div>}
      </div>
      <div className="stack">
        <FormFault fault={fault} />
        {error && !data ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />
          </div>
        ) : (
          <>
            <BudgetCards data={data} acts={acts} />
            <LimitsCard data={data} allowed={allowed} onAsk={setAsking} onChanged={done} />
            {requests.length > 0 && <RequestsCard rows={requests} />}
            {env === 'live' && (
              <BalanceCard
                org={data === undefined ? undefined : data.org}
                allowed={may(role, 'money')}
                onChanged={reread}
              />
            )}
          </>
        )}
      </div>
      <Dialogs edited={edited} asking={asking} data={data} onClose={close} onDone={done} />
    </>
  );
}
