// What the organisation sets for itself: its name, the rules for sign-in, and who owns it.
import './settings.css';
import { useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { OrgSettingsPageDocument } from '../../api/gen/graphql.ts';
import { loadSession, useSessionState } from '../../api/session.ts';
import { useOrg } from '../../app/org.tsx';
import { PageHead } from '../../ui/card.tsx';
import { Bone, ErrorBox } from '../../ui/states.tsx';
import { managesMembers } from '../members/roles.ts';
import { CloseCard } from './close-card.tsx';
import { EraseCard } from './erase-card.tsx';
import { ExportCard } from './export-card.tsx';
import { NameCard } from './name-card.tsx';
import { SecurityCard } from './security-card.tsx';
import { TransferCard } from './transfer-card.tsx';

export function SettingsPage() {
  const { env, role } = useOrg();
  const session = useSessionState();
  const navigate = useNavigate();
  const [{ data, error }, again] = useQuery({ query: OrgSettingsPageDocument });
  const org = data?.org;
  const locked = !managesMembers(role);
  const onSaved = async (slug: string) => {
    await loadSession();
    await navigate({ to: '/$org/$env/settings', params: { org: slug, env }, replace: true });
  };
  // Sessions end with the organisation, in a moment: what can be read until then and after the next sign-in are the invoices.
  const onClosed = async () => {
    await loadSession();
    const params = { org: org?.slug ?? '', env };
    await navigate({ to: '/$org/$env/invoices', params, search: {}, replace: true });
  };
  if (session.kind !== 'signed_in') return null;
  return (
    <>
      <PageHead title="Settings">
        <p>{locked ? 'Owners and admins change these.' : 'They hold for everybody in this organisation.'}</p>
      </PageHead>
      <div className="stack settings-page">
        {error && !org && (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
          </div>
        )}
        {!org && !error && <Bone width="100%" height={220} />}
        {org && <NameCard org={org} locked={locked} onSaved={onSaved} />}
        {org && <SecurityCard org={org} locked={locked} />}
        {role === 'owner' && (
          <TransferCard user_id={session.session.user.id} onDone={() => void loadSession()} />
        )}
        {role === 'owner' && <ExportCard user_id={session.session.user.id} />}
        {role === 'owner' && org && (
          <EraseCard org={org} onDone={() => again({ requestPolicy: 'network-only' })} />
        )}
        {role === 'owner' && <CloseCard onDone={() => void onClosed()} />}
      </div>
    </>
  );
}
