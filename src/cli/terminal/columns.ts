import stringWidth from 'string-width'

/** Lines of text with aligned columns. Cells may have terminal colors. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? '')))) ?? []
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell))).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
