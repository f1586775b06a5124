// The page of policies: how calls are routed, since when, and who manages that.
import './policies.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { PoliciesDocument, type PoliciesQuery, type PolicyRowFragment } from '../../api/gen/tools/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readPoliciesSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CreatePolicyDialog } from './create-dialog.tsx';
import { manifestOf, scopeText } from './words.ts';

type Projects = NonNullable<PoliciesQuery['projects']>;

function Line({ row, projects }: { row: PolicyRowFragment; projects: Projects }) {
  const { slug, env } = useOrg();
  const manifest = manifestOf(row.managedBy);
  const newer = row.newestVersion - row.version;
  return (
    <tr>
      <td className="policy-name">
        <Link className="link" to="/$org/$env/policies/$name" params={{ org: slug, env, name: row.name }}>
          {row.name}
        </Link>
      </td>
      <td>
        {row.status === 'ACTIVE' ? <Status tone="ok">active</Status> : <Status tone="mute">draft</Status>}
      </td>
      <td>
        {row.version}
        {newer > 0 && <span className="sub policy-newer">newest is {row.newestVersion}</span>}
      </td>
      <td>
        {row.scopes.length === 0 && <span className="faint">nowhere</span>}
        {row.scopes.map((scope) => (
          <div key={scope.projectId ?? ''}>
            {scopeText(scope.projectId, projects)}{' '}
            <span className="faint">
              version {scope.version}, <Time at={scope.activatedAt} />
            </span>
          </div>
        ))}
      </td>
      <td className="soft">
        {manifest === null ? 'console and API' : `Kubernetes, ${manifest.namespace}/${manifest.name}`}
      </td>
    </tr>
  );
}

function List({ data }: { data: PoliciesQuery | undefined }) {
  const rows = data?.policies;
  return (
    <Table name="List of policies" busy={data === undefined}>
      <Columns of={['Name', 'Status', 'Version', 'Where it is active', 'Managed by']} />
      <tbody>
        {data === undefined ? (
          <BoneRows rows={3} columns={5} />
        ) : (
          rows?.map((row) => <Line key={row.name} row={row} projects={data.projects ?? []} />)
        )}
      </tbody>
    </Table>
  );
}

export function PoliciesPage() {
  const { slug, env, role } = useOrg();
  const navigate = useNavigate();
  const { create } = readPoliciesSearch(useSearch({ from: '/$org/$env/policies' }));
  const [{ data, error }, again] = useQuery({ query: PoliciesDocument, requestPolicy: 'cache-and-network' });
  const params = { org: slug, env };
  const setCreating = (open: boolean) =>
    void navigate({ to: '/$org/$env/policies', params, search: open ? { create: true } : {}, replace: true });
  const allowed = may(role, 'policies');
  useShortcuts(allowed ? { c: () => setCreating(true) } : {});
  const button = allowed && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setCreating(true)}>
      New policy
    </Button>
  );
  return (
    <>
      <PageHead title="Policies" actions={button || undefined}>
        <p>What a call meets: which endpoints may answer, in which order, and what they must promise.</p>
      </PageHead>
      <div className="stack">
        <Card flush>
          {error && !data && (
            <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
          )}
          {data?.policies?.length === 0 ? (
            <Empty title="No policy yet" actions={button || undefined}>
              Until there is one, calls are spread by a balance of price, speed and uptime, with three
              attempts.
            </Empty>
          ) : (
            !(error && !data) && <List data={data} />
          )}
        </Card>
      </div>
      {create && allowed && <CreatePolicyDialog onClose={() => setCreating(false)} />}
    </>
  );
}
