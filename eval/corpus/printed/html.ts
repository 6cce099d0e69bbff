// A printed report as a page of HTML, for a browser.
import type { Cell, Grid, Look, PrintedBlock, PrintedSheet } from './model.ts'

export const toHtml = ({ look, blocks }: PrintedSheet): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Laboratory report</title><style>${css(look)}</style></head><body>${blocks
    .map(block)
    .join('\n')}</body></html>`

function css(look: Look): string {
  const [above, beside] = look.padding_pt
  const line = '0.6pt solid #555'
  return [
    `@page { size: ${look.page === 'a4' ? 'A4' : 'letter'}${look.isLandscape ? ' landscape' : ''}; margin: ${look.margin_pt}pt }`,
    `body { font: ${look.size_pt}pt "${look.font}"; margin: 0 }`,
    'h1 { font-size: 1.5em; margin: 0 0 4pt } h2 { font-size: 1.15em; margin: 9pt 0 3pt; break-after: avoid }',
    'p { margin: 3pt 0 } .small { font-size: .85em; color: #444 }',
    'table { border-collapse: collapse; margin: 4pt 0 } tr { break-inside: avoid }',
    `td, th { text-align: left; padding: ${above}pt ${beside}pt }`,
    '.particulars { width: 100%; margin-bottom: 8pt } .particulars td { vertical-align: top; padding: 1pt 8pt 1pt 0 }',
    `.results td { vertical-align: ${look.vertical} } .results th { vertical-align: ${look.verticalOfHeader} }`,
    look.rules === 'grid' ? `.results td, .results th { border: ${line} }` : '',
    look.rules === 'rows' ? `.results tr { border-bottom: ${line} }` : '',
    look.rules === 'header' ? `.results thead { border-top: ${line}; border-bottom: ${line} }` : '',
    look.zebra ? `.results tbody tr:nth-child(even) { background: ${look.zebra} }` : '',
    look.band ? `.results th { background: ${look.band} }` : '',
    '* { print-color-adjust: exact }',
  ].join('\n')
}

function block(printedBlock: PrintedBlock): string {
  switch (printedBlock.kind) {
    case 'grid':
      return grid(printedBlock)
    case 'title':
      return `<h1>${escape(printedBlock.text)}</h1>`
    case 'heading':
      return `<h2>${escape(printedBlock.text)}</h2>`
    case 'columns':
      return `<div style="display: grid; grid-template-columns: 1fr 1fr; gap: 0 18pt; align-items: start">${printedBlock.blocks
        .map((innerBlocks) => `<div>${innerBlocks.map(block).join('\n')}</div>`)
        .join('\n')}</div>`
    case 'page break':
      return '<div style="break-before: page"></div>'
    default:
      return `<p${printedBlock.kind === 'small' ? ' class="small"' : ''}>${escape(printedBlock.text)}</p>`
  }
}

function grid({ widths, header, rows, isOfResults }: Grid): string {
  const columns = widths?.map((width) => `<col style="width: ${width}%">`).join('') ?? ''
  const lines = (rows: Cell[][], tag: 'td' | 'th') =>
    rows.map((row) => `<tr>${row.map((gridCell) => cell(gridCell, tag)).join('')}</tr>`).join('\n')
  const style = widths
    ? ` style="width: ${Math.min(
        100,
        widths.reduce((sum, width) => sum + width, 0),
      )}%"`
    : ''
  const head = header.length ? `<thead>${lines(header, 'th')}</thead>` : ''
  return `<table class="${isOfResults ? 'results' : 'particulars'}"${style}>${columns}${head}<tbody>${lines(rows, 'td')}</tbody></table>`
}

function cell({ lines, columns, rows, align, isBold, color, small }: Cell, tag: 'td' | 'th'): string {
  const style = [align && `text-align: ${align}`, isBold && 'font-weight: bold', color && `color: ${color}`]
    .filter(Boolean)
    .join('; ')
  const attributes = [
    columns ? ` colspan="${columns}"` : '',
    rows ? ` rowspan="${rows}"` : '',
    style ? ` style="${style}"` : '',
  ].join('')
  const below = (small ?? []).map((line) => `<br><span class="small">${escape(line)}</span>`).join('')
  return `<${tag}${attributes}>${lines.map(escape).join('<br>')}${below}</${tag}>`
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
