import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface SectionProps {
  title: string
  /** What the settings are for, in a sentence. */
  description?: ReactNode
  /** Buttons at the right of the title. */
  actions?: ReactNode
  children: ReactNode
}

/** A part of the settings: its title, what it is for, and its content. */
export const Section = ({ title, description, actions, children }: SectionProps) => (
  <Stack component="section" aria-label={title} gap="md">
    <Group justify="space-between" gap="sm" align="flex-start">
      <Stack gap={2} flex="1 1 240px">
        <Title order={2}>{title}</Title>
        {description && (
          <Text size="sm" c="dimmed" maw={640}>
            {description}
          </Text>
        )}
      </Stack>
      {actions && <Group gap="sm">{actions}</Group>}
    </Group>
    {children}
  </Stack>
)
