import { Button, Checkbox, Popover, Stack } from '@mantine/core'

interface ColumnMenuProps {
  columns: readonly { id: string; header: string }[]
  hiddenColumns: readonly string[]
  onChange: (hiddenColumns: string[]) => void
}

/** Chooses the columns of a list. */
export const ColumnMenu = ({ columns, hiddenColumns, onChange }: ColumnMenuProps) => (
  <Popover position="bottom-end" withinPortal>
    <Popover.Target>
      <Button variant="default" size="sm">
        Columns
      </Button>
    </Popover.Target>
    <Popover.Dropdown>
      <Stack gap="sm">
        {columns.map(({ id, header }) => (
          <Checkbox
            key={id}
            size="xs"
            label={header}
            checked={!hiddenColumns.includes(id)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? hiddenColumns.filter((hiddenId) => hiddenId !== id) : [...hiddenColumns, id])
            }
          />
        ))}
      </Stack>
    </Popover.Dropdown>
  </Popover>
)
