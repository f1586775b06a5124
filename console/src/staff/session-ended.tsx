// The sign-in over a page whose session has ended: after 30 minutes without a request, or 8 hours.
import { SignInForm } from '../pages/sign-in/form.tsx';
import { Dialog } from '../ui/dialog.tsx';

export const CODE_HINT = 'Six digits from your authenticator app.';

export function StaffSessionEnded({ email }: { email: string }) {
  return (
    <Dialog
      title="Your session has ended"
      note="Sign in again to continue. What you entered on this page is kept."
      size={420}
      onClose={() => undefined}
    >
      <SignInForm email={email} code_hint={CODE_HINT} onDone={() => undefined} />
    </Dialog>
  );
}
