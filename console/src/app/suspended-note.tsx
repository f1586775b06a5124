// What people of a suspended or closed organisation read above every page: why, and what goes on.
import { Link } from '@tanstack/react-router';
import { Icon } from '../ui/icons.tsx';
import { useOrg } from './org.tsx';

/** Says that the organisation is suspended or closed, why, and what goes on. */
export function SuspendedNote() {
  const { slug, env, status, suspended_for } = useOrg();
  if (status === 'closed')
    return (
      <div className="suspended" role="status">
        <Icon name="alert-triangle" size={15} />
        <span>
          <b>Closed:</b> for 90 days owners can read{' '}
          <Link className="link" to="/$org/$env/invoices" params={{ org: slug, env }} search={{}}>
            invoices
          </Link>{' '}
          and{' '}
          <Link className="link" to="/$org/$env/credits" params={{ org: slug, env }} search={{}}>
            credits
          </Link>
          . Everything else is refused.
        </span>
      </div>
    );
  if (status !== 'suspended') return null;
  return (
    <div className="suspended" role="status">
      <Icon name="alert-triangle" size={15} />
      {suspended_for === 'payment_hold' ? (
        <span>
          <b>Suspended:</b> a payment was lost in a dispute after its credits were spent. Calls and changes
          are refused until the loss is settled. The payment among the{' '}
          <Link className="link" to="/$org/$env/credits" params={{ org: slug, env }} search={{}}>
            top-ups
          </Link>{' '}
          says what is owed and what to do.
        </span>
      ) : (
        <span>
          <b>Suspended:</b> calls and changes are refused. What is here can be read.{' '}
          <Link className="link" to="/$org/$env/tickets" params={{ org: slug, env }}>
            Write to support
          </Link>{' '}
          to find out why and what ends it.
        </span>
      )}
    </div>
  );
}
