// What can appear over any page: the menu on narrow screens, and the sign-in form when a session has ended.
import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { SignInForm } from '../pages/sign-in/form.tsx';
import { Dialog } from '../ui/dialog.tsx';

export function SideDrawer({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      size={264}
      padding={0}
      lockScroll={false}
      transitionProps={{ duration: 0 }}
    >
      <Drawer.Overlay />
      <Drawer.Content aria-label="Menu">{children}</Drawer.Content>
    </Drawer.Root>
  );
}

export function SessionEnded({ email }: { email: string }) {
  return (
    <Dialog
      title="Your session has ended"
      note="Sign in again to continue. What you entered on this page is kept."
      size={420}
      onClose={() => undefined}
    >
      <SignInForm email={email} onDone={() => undefined} />
    </Dialog>
  );
}
