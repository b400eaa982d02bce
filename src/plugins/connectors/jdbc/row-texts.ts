/** The texts of one row; null for NULL. */
export type RowTexts = readonly (string | null)[]
