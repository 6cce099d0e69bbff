import { Group, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface PageProps {
  /** Names the page; it stands in the title of the window too, so it never has data of a patient. */
  title: string
  /** In place of the title on the page, where that shows more, for example the name of a patient. */
  heading?: ReactNode
  /** Buttons at the right of the title. */
  actions?: ReactNode
  children: ReactNode
}

/** A page: its title, its actions and its content. */
export const Page = ({ title, heading, actions, children }: PageProps) => (
  <Stack gap="lg">
    <title>{`${title} · Drawbridge`}</title>
    <Group justify="space-between" gap="sm" mih={36}>
      {heading ?? <Title order={1}>{title}</Title>}
      {actions && <Group gap="sm">{actions}</Group>}
    </Group>
    {children}
  </Stack>
)
