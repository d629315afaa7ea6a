// PicoRV32 with the malloc unit on its co-processor port, and memory. The core comes from the
// package pythondata-cpu-picorv32 at build time.
module soc_top #(
  parameter int unsigned Entries      = 16,
  parameter int unsigned Latency      = 1,
  parameter int unsigned FetchLatency = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        trap_o,
  output logic        violation_o,
  output logic        console_valid_o,
  output logic [7:0]  console_data_o,
  output logic        exit_valid_o,
  output logic [31:0] exit_code_o
);

  localparam int unsigned TagWidth = $clog2(Entries);

  logic        mem_valid, mem_instr, mem_ready;
  logic [31:0] mem_addr, mem_wdata, mem_rdata;
  logic [3:0]  mem_wstrb;
  logic        pcpi_valid, pcpi_wr, pcpi_wait, pcpi_ready;
  logic [31:0] pcpi_insn, pcpi_rs1, pcpi_rs2, pcpi_rd;

  picorv32 #(
    .ENABLE_PCPI         (1),
    .ENABLE_MUL          (1),
    .ENABLE_DIV          (1),
    .BARREL_SHIFTER      (1),
    .TWO_CYCLE_ALU       (0),
    .STACKADDR           (32'h0004_0000)
  ) u_core (
    .clk         (clk_i),
    .resetn      (rst_ni),
    .trap        (trap_o),
    .mem_valid,
    .mem_instr,
    .mem_ready,
    .mem_addr,
    .mem_wdata,
    .mem_wstrb,
    .mem_rdata,
    .mem_la_read (),
    .mem_la_write(),
    .mem_la_addr (),
    .mem_la_wdata(),
    .mem_la_wstrb(),
    .pcpi_valid,
    .pcpi_insn,
    .pcpi_rs1,
    .pcpi_rs2,
    .pcpi_wr,
    .pcpi_rd,
    .pcpi_wait,
    .pcpi_ready,
    .irq         ('0),
    .eoi         (),
    .trace_valid (),
    .trace_data  ()
  );

  logic                load_valid, load_ready, word_valid, word_ready;
  logic [31:0]         load_addr, word_data;
  logic [TagWidth-1:0] load_tag, word_tag;

  mallacc_pcpi #(
    .Entries(Entries)
  ) u_mallacc (
    .clk_i,
    .rst_ni,
    .valid_i        (pcpi_valid),
    .insn_i         (pcpi_insn),
    .rs1_i          (pcpi_rs1),
    .rs2_i          (pcpi_rs2),
    .wr_o           (pcpi_wr),
    .rd_o           (pcpi_rd),
    .wait_o         (pcpi_wait),
    .ready_o        (pcpi_ready),
    .mem_valid_o    (load_valid),
    .mem_ready_i    (load_ready),
    .mem_addr_o     (load_addr),
    .mem_tag_o      (load_tag),
    .mem_rsp_valid_i(word_valid),
    .mem_rsp_ready_o(word_ready),
    .mem_rsp_tag_i  (word_tag),
    .mem_rsp_data_i (word_data),
    .violation_o
  );

  soc_memory #(
    .Latency     (Latency),
    .FetchLatency(FetchLatency),
    .TagWidth    (TagWidth)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .valid_i     (mem_valid),
    .instr_i     (mem_instr),
    .ready_o     (mem_ready),
    .addr_i      (mem_addr),
    .wdata_i     (mem_wdata),
    .wstrb_i     (mem_wstrb),
    .rdata_o     (mem_rdata),
    .load_valid_i(load_valid),
    .load_ready_o(load_ready),
    .load_addr_i (load_addr),
    .load_tag_i  (load_tag),
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .word_tag_o  (word_tag),
    .word_data_o (word_data),
    .console_valid_o,
    .console_data_o,
    .exit_valid_o,
    .exit_code_o
  );

endmodule
