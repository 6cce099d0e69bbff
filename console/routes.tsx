// The routes: everything is below the session gate, and each page is loaded when it is opened. A launched session has addresses of its own, so
// that it does not mix with that of a member in the same browser.
import { createBrowserRouter } from 'react-router'
import { NotFoundPage } from './frame/NotFoundPage.tsx'
import { RouteError } from './frame/RouteError.tsx'
import { LaunchStart } from './launch/LaunchStart.tsx'
import { TeamFrame } from './launch/TeamFrame.tsx'
import { basePath, launchId } from './page-context.ts'
import { PAGES } from './pages.ts'
import { SessionGate } from './session/SessionGate.tsx'

export const router = createBrowserRouter(
  [
    ...['setup', 'invite', 'reset'].map((path) => ({
      path,
      errorElement: <RouteError />,
      hydrateFallbackElement: <></>,
      lazy: async () => ({ Component: (await import('./session/OneTimeLinkPage.tsx')).OneTimeLinkPage }),
    })),
    {
      element: <SessionGate />,
      errorElement: <RouteError />,
      // Shown while the first page is loaded; the frame then shows its own.
      hydrateFallbackElement: <></>,
      children: [
        { index: true, element: <LaunchStart /> },
        {
          path: ':team/:cell',
          element: <TeamFrame />,
          children: [
            ...PAGES.map(({ path, load }) => ({
              path,
              errorElement: <RouteError />,
              lazy: async () => ({ Component: await load() }),
            })),
            { path: '*', element: <NotFoundPage /> },
          ],
        },
        { path: '*', element: <NotFoundPage /> },
      ],
    },
  ],
  { basename: `${basePath}/${launchId ? 'auth/session' : 'console'}` },
)
