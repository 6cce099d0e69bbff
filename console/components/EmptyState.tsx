import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyableCode } from './CopyableCode.tsx'
import classes from './EmptyState.module.css'

interface EmptyStateProps {
  title: string
  /** One sentence: what will be here, and what makes it come. */
  children: ReactNode
  /** A button that makes it come. */
  action?: ReactNode
  /** The same as a command to copy. */
  command?: string
}

/** What a page shows while it has nothing to show. */
export const EmptyState = ({ title, children, action, command }: EmptyStateProps) => (
  <Stack className={classes.empty} gap="md" align="center">
    <Title order={2}>{title}</Title>
    <Text c="dimmed" ta="center" maw={460}>
      {children}
    </Text>
    {action}
    {command !== undefined && <CopyableCode text={command} label="the command" />}
  </Stack>
)
