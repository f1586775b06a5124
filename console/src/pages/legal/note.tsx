// What owners and admins read above every page while documents wait to be accepted.
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { LegalWaitsDocument } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Icon } from '../../ui/icons.tsx';

/** An acceptance changes the answer, also of an organisation that has none yet. */
const context = { additionalTypenames: ['LegalAcceptance'] };

export function LegalNote() {
  const { slug, env, role } = useOrg();
  const [{ data }] = useQuery({ query: LegalWaitsDocument, context });
  const waiting = (data?.legal?.documents ?? []).filter(({ outstanding }) => outstanding);
  if (waiting.length === 0) return null;
  const titles = waiting.map(({ title }) => title).join(', ');
  return (
    <div className="suspended" role="status">
      <Icon name="alert-triangle" size={15} />
      <span>
        <b>Waits to be accepted:</b> {titles}. {role === 'owner' ? 'You accept' : 'An owner accepts'} it on
        the page{' '}
        <Link className="link" to="/$org/$env/legal" params={{ org: slug, env }}>
          Legal
        </Link>
        .
      </span>
    </div>
  );
}
