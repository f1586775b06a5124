// Pages outside an organisation: an unknown address, a server that does not answer, or a defect.
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { loadSession, useSessionState } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Empty, ErrorBox } from '../ui/states.tsx';

export function NotFound() {
  return (
    <main className="outside">
      <div className="card">
        <Empty
          page
          title="There is nothing at this address"
          actions={
            <Link className="btn" to="/">
              Go to Home
            </Link>
          }
        >
          It may belong to an organisation that you are not a member of, or it has been removed.
        </Empty>
      </div>
    </main>
  );
}

/** The session could not be asked for, or the person is in no organisation. */
export function Unreachable() {
  const state = useSessionState();
  const again = async () => {
    await loadSession();
    location.reload();
  };
  return (
    <main className="outside">
      <div className="card">
        {state.kind === 'unreachable' ? (
          <ErrorBox fault={state.fault} onRetry={() => void again()} />
        ) : (
          <Empty page title="You are in no organisation yet">
            Ask an owner or admin of yours for an invitation to{' '}
            {state.kind === 'signed_in' && state.session.user.email}.
          </Empty>
        )}
      </div>
    </main>
  );
}

/** Keeps a defect in one page from breaking the frame around it. */
export function PageFault({ error, reset }: ErrorComponentProps) {
  return (
    <div className="card">
      <Empty
        page
        title="This page has failed"
        actions={
          <>
            <Button icon="refresh" onClick={reset}>
              Try again
            </Button>
            <Button onClick={() => location.reload()}>Reload the console</Button>
          </>
        }
      >
        {navigator.onLine
          ? 'The fault is in the console, and nothing was changed:'
          : 'There is no connection, and this page was not loaded before:'}{' '}
        {String(error instanceof Error ? error.message : error).slice(0, 200)}
      </Empty>
    </div>
  );
}
