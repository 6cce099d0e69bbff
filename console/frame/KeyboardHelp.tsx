import { Kbd, Modal, Table } from '@mantine/core'

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl', 'K'], 'Search, jump to an id, or run an action'],
  [['?'], 'Show these keys'],
  [['j'], 'Next row of a list'],
  [['k'], 'Previous row of a list'],
  [['Enter'], 'Open the row'],
  [['x'], 'Select the row, where rows can be selected'],
  [['Esc'], 'Close what is open'],
]

/** The keys of the console, which `?` shows. */
export function KeyboardHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Table aria-label="Keys">
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td>
                {keys.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
