import '../app/theme/fonts.css';
import '../app/theme/mantine.css';
import '../app/theme/tokens.css';
import '../app/theme/base.css';
import './staff.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { enterStaff } from './realm.ts';
import { createStaffRouter } from './router.tsx';

const theme = createTheme({ fontFamily: 'var(--font)', fontFamilyMonospace: 'var(--mono)' });

async function start(root: HTMLElement): Promise<void> {
  enterStaff();
  const router = createStaffRouter();
  await router.load();
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        {/* The type of the router that links are checked against is the customers'. */}
        <RouterProvider router={router as never} />
      </MantineProvider>
    </StrictMode>,
  );
}

const root = document.getElementById('root');
if (root === null) throw new Error('staff.html has no #root');
void start(root);
