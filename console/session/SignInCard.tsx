import { Box, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './SignInPage.module.css'

/** The frame of the pages that are shown to people who have not signed in. */
export const SignInCard = ({ title, children }: { title: string; children: ReactNode }) => (
  <main className={classes.page}>
    <title>{`${title} · Drawbridge`}</title>
    <Box className={classes.form}>
      <Title order={1}>Drawbridge</Title>
      {children}
    </Box>
  </main>
)
