// The page of budgets: what each project may spend, when that is used up, and who is warned.
import './budgets.css';
import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError } from '../../api/errors.ts';
import { type BudgetRowFragment, BudgetsDocument, ResumeProjectDocument } from '../../api/gen/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { ErrorBox, FormFault } from '../../ui/states.tsx';
import { BalanceCard } from './balance-card.tsx';
import { BudgetTable } from './budget-table.tsx';
import { EditBudgetDialog } from './edit-dialog.tsx';

/** Lifts the pause of a project whose budget of the month is spent. */
function useResume(onDone: () => void) {
  const client = useClient();
  const [fault, setFault] = useState<Fault | null>(null);
  const resume = async ({ id }: BudgetRowFragment) => {
    setFault(null);
    const { data, error } = await client.mutation(ResumeProjectDocument, { input: { id } }).toPromise();
    if (error) return setFault(faultOfQuery(error));
    if (data?.resumeProject.__typename === 'ResumeProjectPayload') return onDone();
    if (data) setFault(faultOfUserError(data.resumeProject));
  };
  return { resume, fault };
}

export function BudgetsPage() {
  const { role, slug, env, environment } = useOrg();
  const [{ data, error }, again] = useQuery({ query: BudgetsDocument });
  const [edited, setEdited] = useState<BudgetRowFragment | null>(null);
  const [now] = useState(() => new Date());
  const reread = useCallback(() => again({ requestPolicy: 'network-only' }), [again]);
  const { resume, fault } = useResume(reread);
  const rows = data?.projects?.filter((row) => row.environment === environment);
  return (
    <>
      <PageHead title="Budgets & alerts">
        <p>
          A budget of a project counts the calls that began in a UTC month. Daily budgets of keys are on{' '}
          <Link className="link" to="/$org/$env/keys" params={{ org: slug, env }}>
            Keys
          </Link>
          .
        </p>
      </PageHead>
      <div className="stack">
        <FormFault fault={fault} />
        {error && !data ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />
          </div>
        ) : (
          <>
            <Card title="Projects" flush>
              <BudgetTable
                rows={rows}
                now={now}
                allowed={may(role, 'keys')}
                onEdit={setEdited}
                onResume={(row) => void resume(row)}
              />
            </Card>
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
      {edited && (
        <EditBudgetDialog
          row={edited}
          onClose={() => setEdited(null)}
          onDone={() => {
            setEdited(null);
            reread();
          }}
        />
      )}
    </>
  );
}
