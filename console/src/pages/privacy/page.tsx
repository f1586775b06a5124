// Privacy: what the organisation requires of everybody who processes its data, and what it does for the people behind its calls.
import '../settings/settings.css';
import './privacy.css';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { DataPolicyDocument } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { PageHead } from '../../ui/card.tsx';
import { Bone, ErrorBox } from '../../ui/states.tsx';
import { managesMembers } from '../members/roles.ts';
import { policyOf } from './policy.ts';
import { PolicySection } from './policy-section.tsx';
import { SubjectsCard } from './subjects-card.tsx';

export function PrivacyPage() {
  const { role } = useOrg();
  const [{ data, error }, again] = useQuery({ query: DataPolicyDocument });
  const org = data?.org;
  const locked = !managesMembers(role);
  return (
    <>
      <PageHead title="Privacy">
        <p>What may become of what your calls say, and of what is stored of the people behind them.</p>
      </PageHead>
      <div className="stack">
        {error && !org && (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
          </div>
        )}
        {!org && !error && <Bone width="100%" height={420} />}
        {org && <PolicySection key={org.id} id={org.id} first={policyOf(org.dataPolicy)} locked={locked} />}
        {!locked && <SubjectsCard />}
      </div>
    </>
  );
}
