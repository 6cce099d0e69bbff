import { Box, Text } from '@mantine/core'
import { Outlet, useLocation } from 'react-router'
import { ClockOffsetContext } from '../components/now.ts'
import { useClockOffset } from '../frame/clock/team-clock.ts'
import { NotFoundPage } from '../frame/NotFoundPage.tsx'
import { TeamContext, useTeam } from '../session/team.ts'
import { useTeamOfAddress } from '../session/team-of-address.ts'
import type { LaunchSession } from '../session/session.ts'
import { pageOf } from './feature.ts'
import classes from './EmbeddedFrame.module.css'

/** The page of a feature inside of another program's page: without navigation, and without other pages. */
export function EmbeddedFrame({ launch }: { launch: LaunchSession }) {
  const scope = useTeamOfAddress()
  const { pathname } = useLocation()
  if (!scope || !pageOf(launch).has(pathname.slice(scope.pathTo('').length + 1))) return <NotFoundPage />
  return (
    <TeamContext value={scope}>
      <EmbeddedPage />
    </TeamContext>
  )
}

function EmbeddedPage() {
  const { environment } = useTeam()
  const offset_ms = useClockOffset()
  return (
    <ClockOffsetContext value={offset_ms}>
      {environment === 'sandbox' && <Text className={classes.band}>Sandbox</Text>}
      <Box component="main" className={classes.content}>
        <Outlet />
      </Box>
    </ClockOffsetContext>
  )
}
