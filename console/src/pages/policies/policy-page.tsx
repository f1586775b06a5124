// One policy: where it is active, its versions, and the editor in which the next one is written and tried.
import './policies.css';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { PolicyDocument, type PolicyQuery, type PolicyRowFragment } from '../../api/gen/tools/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readPolicySearch } from '../../app/search.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { ActivateDialog } from './activate-dialog.tsx';
import { CanariesCard } from './canaries-card.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { ExperimentsCard } from './experiments/card.tsx';
import { ScopesCard } from './scopes-card.tsx';
import { ShadowsCard } from './shadows/card.tsx';
import { TextPart } from './text-part.tsx';
import type { Asked } from './try-card.tsx';
import { VersionsCard } from './versions-card.tsx';
import { kubectlLine, manifestOf } from './words.ts';

/** A policy that was read, with all that the parts of the page need. */
export interface PolicyShown {
  readonly row: PolicyRowFragment;
  readonly versions: NonNullable<PolicyQuery['policyVersions']>;
  readonly projects: NonNullable<PolicyQuery['projects']>;
  readonly schema: unknown;
  /** Whether the person may change it here: their role, and that no manifest manages it. */
  readonly editable: boolean;
  readonly reread: () => void;
}

/** What a person has typed, over all versions that they look at. */
export interface Desk {
  /** Changed texts by the version that they began with. */
  readonly drafts: Map<number, string>;
  readonly asked: Asked | null;
  readonly setAsked: (asked: Asked) => void;
}

function ManagedNote({ row }: { row: PolicyRowFragment }) {
  const manifest = manifestOf(row.managedBy);
  if (manifest === null) return null;
  const line = kubectlLine(manifest);
  return (
    <div className="card note">
      <span className="grow">
        A Kubernetes object manages this policy: change it there, and it changes here.
        <code className="policy-kubectl">{line}</code>
      </span>
      <CopyButton text={line} what="the command" />
    </div>
  );
}

function Head(props: { row: PolicyRowFragment; actions?: React.ReactNode }) {
  const { row, actions } = props;
  return (
    <PageHead
      title={
        <>
          {row.name}{' '}
          {row.status === 'ACTIVE' ? <Status tone="ok">active</Status> : <Status tone="mute">draft</Status>}
        </>
      }
      actions={actions}
    />
  );
}

function Policy({ shown }: { shown: PolicyShown }) {
  const { row, versions, editable } = shown;
  const { version } = readPolicySearch(useSearch({ from: '/$org/$env/policies/$name' }));
  const [over, setOver] = useState<'activate' | 'delete' | null>(null);
  const [drafts] = useState(() => new Map<number, string>());
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setOver(null);
  const chosen = versions.find((each) => each.version === (version ?? row.version)) ?? versions[0];
  if (chosen === undefined) return null;
  const actions = editable && (
    <>
      <Button kind="quiet" onClick={() => setOver('delete')}>
        Delete
      </Button>
      <Button kind="primary" onClick={() => setOver('activate')}>
        Activate version {chosen.version}
      </Button>
    </>
  );
  return (
    <>
      <Head row={row} actions={actions || undefined} />
      <div className="stack">
        <ManagedNote row={row} />
        <div className="policy-columns">
          <div className="stack policy-side">
            <ScopesCard shown={shown} />
            <CanariesCard key={row.scopes.map((scope) => scope.version).join()} name={row.name} />
            <ShadowsCard
              key={`copies of ${row.scopes.map((scope) => scope.version).join()}`}
              name={row.name}
            />
            <ExperimentsCard key={`of ${row.scopes.map((scope) => scope.version).join()}`} name={row.name} />
            <VersionsCard shown={shown} chosen={chosen.version} />
          </div>
          <TextPart key={chosen.version} shown={shown} chosen={chosen} desk={{ drafts, asked, setAsked }} />
        </div>
      </div>
      {over === 'activate' && <ActivateDialog shown={shown} version={chosen.version} onClose={close} />}
      {over === 'delete' && <DeleteDialog row={row} onClose={close} />}
    </>
  );
}

function Missing({ name }: { name: string }) {
  const { slug, env, name: org } = useOrg();
  return (
    <div className="card">
      <Empty
        title={`No policy ${name} here`}
        page
        actions={
          <Link className="btn" to="/$org/$env/policies" params={{ org: slug, env }}>
            All policies
          </Link>
        }
      >
        {org} has none of this name. It may be one of another organisation: choose that one first.
      </Empty>
    </div>
  );
}

export function PolicyPage() {
  const { name } = useParams({ from: '/$org/$env/policies/$name' });
  const { role } = useOrg();
  const [{ data, error }, again] = useQuery({
    query: PolicyDocument,
    variables: { name },
    requestPolicy: 'cache-and-network',
  });
  const reread = useCallback(() => again({ requestPolicy: 'network-only' }), [again]);
  if (error && !data) {
    return (
      <div className="card">
        <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />
      </div>
    );
  }
  if (data === undefined) {
    return (
      <>
        <PageHead title={name} />
        <div className="card card-body">
          <Bone width="60%" height={280} />
        </div>
      </>
    );
  }
  const { policy: row, policyVersions, projects, policySchema } = data;
  if (!row || !policyVersions) return <Missing name={name} />;
  const editable = may(role, 'policies') && manifestOf(row.managedBy) === null;
  const shown = { row, versions: policyVersions, projects: projects ?? [], schema: policySchema };
  return <Policy key={name} shown={{ ...shown, editable, reread }} />;
}
