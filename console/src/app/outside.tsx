// Pages outside an organisation: an unknown address, or a defect.
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';
import { isReached, PageLost } from './kept.ts';

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

/** A page whose code cannot be had; it is loaded when the connection is back. */
function PageMissing() {
  const [busy, setBusy] = useState(false);
  // Without a connection a reload would end the console.
  const again = async () => {
    setBusy(true);
    if (await isReached()) location.reload();
    setBusy(false);
  };
  useEffect(() => {
    const reload = () => location.reload();
    addEventListener('online', reload);
    return () => removeEventListener('online', reload);
  }, []);
  return (
    <div className="card">
      <Empty
        page
        title="This page could not be loaded"
        actions={
          <Button icon="refresh" busy={busy} onClick={() => void again()}>
            Try again
          </Button>
        }
      >
        There is no connection to the server, and this page was not opened before. It opens by itself when the
        connection is back; pages that were open before can still be read.
      </Empty>
    </div>
  );
}

/** Keeps a defect in one page from breaking the frame around it. */
export function PageFault({ error, reset }: ErrorComponentProps) {
  if (error instanceof PageLost) return <PageMissing />;
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
        The fault is in the console, and nothing was changed:{' '}
        {String(error instanceof Error ? error.message : error).slice(0, 200)}
      </Empty>
    </div>
  );
}
