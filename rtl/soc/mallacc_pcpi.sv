// The malloc unit on PicoRV32's co-processor port (PCPI). Encodings: docs/isa.md, "Encodings".
//
// An instruction waits here until the unit need not answer `wait`. A prefetch is done once memory
// has taken its load; the word comes back later.
module mallacc_pcpi
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries   = 16,
  localparam int unsigned Xlen     = 32,
  localparam int unsigned TagWidth = $clog2(Entries)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // PCPI
  input  logic                valid_i,
  input  logic [Xlen-1:0]     insn_i,
  input  logic [Xlen-1:0]     rs1_i,
  input  logic [Xlen-1:0]     rs2_i,
  output logic                wr_o,
  output logic [Xlen-1:0]     rd_o,
  output logic                wait_o,
  output logic                ready_o,

  // Loads of prefetches
  output logic                mem_valid_o,
  input  logic                mem_ready_i,
  output logic [Xlen-1:0]     mem_addr_o,
  output logic [TagWidth-1:0] mem_tag_o,
  input  logic                mem_rsp_valid_i,
  output logic                mem_rsp_ready_o,
  input  logic [TagWidth-1:0] mem_rsp_tag_i,
  input  logic [Xlen-1:0]     mem_rsp_data_i,

  output logic                violation_o
);

  localparam logic [6:0] Custom0 = 7'b0001011;
  // Numbers in funct7 that are not operations of the unit, or moved ones.
  localparam logic [6:0] FunctNext   = 7'd15;
  localparam logic [6:0] FunctConfig = 7'd16;

  logic [6:0]  funct7;
  logic [14:0] unused_registers;
  logic        ours, is_next, is_config, legal;

  assign unused_registers = {insn_i[24:15], insn_i[11:7]};
  assign funct7    = insn_i[31:25];
  assign ours      = valid_i && (insn_i[6:0] == Custom0) && (insn_i[14:12] == 3'd0);
  assign is_next   = ours && (funct7 == FunctNext);
  assign is_config = ours && (funct7 == FunctConfig);
  assign legal     = ours && ((funct7 <= 7'd8) || (funct7 == 7'd13) || (funct7 == 7'd14) ||
                              is_config);

  op_e op;
  assign op = is_config ? OpConfig : op_e'(funct7[OpWidth-1:0]);

  // One operation at a time; `wait` sends it again.
  logic            busy_q, accepted, rsp_valid, rsp_hit, rsp_wait, rsp_violation, req_ready;
  logic [Xlen-1:0] rsp_first, rsp_second, next_q;
  logic            done;

  assign accepted = legal && !busy_q && !ready_o && req_ready;
  assign done     = rsp_valid && !rsp_wait;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else if (accepted) begin
      busy_q <= 1'b1;
    end else if (rsp_valid) begin
      busy_q <= 1'b0;
    end
  end

  malloc_unit #(
    .Entries (Entries),
    .PtrWidth(Xlen),
    .Xlen    (Xlen)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .req_valid_i    (legal && !busy_q && !ready_o),
    .req_ready_o    (req_ready),
    .req_op_i       (op),
    .req_a_i        (rs1_i),
    // An update packs block size and class into its second operand.
    .req_b_i        ((op == OpUpdate) ? Xlen'(rs2_i[SizeWidth-1:0]) : rs2_i),
    .req_c_i        (rs2_i >> SizeWidth),
    .rsp_valid_o    (rsp_valid),
    .rsp_hit_o      (rsp_hit),
    .rsp_wait_o     (rsp_wait),
    .rsp_violation_o(rsp_violation),
    .rsp_first_o    (rsp_first),
    .rsp_second_o   (rsp_second),
    .mem_valid_o,
    .mem_ready_i,
    .mem_addr_o,
    .mem_tag_o,
    .mem_rsp_valid_i,
    .mem_rsp_ready_o,
    .mem_rsp_tag_i,
    .mem_rsp_data_i
  );

  // The answer goes to the core a cycle after the unit gave it: PicoRV32 expects a registered one.
  logic            answer_q, write_q;
  logic [Xlen-1:0] value_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_q <= 1'b0;
      write_q  <= 1'b0;
      value_q  <= '0;
      next_q   <= '0;
    end else begin
      answer_q <= done || (is_next && !answer_q);
      if (is_next && !answer_q) begin
        write_q <= 1'b1;
        value_q <= next_q;
      end else if (done) begin
        write_q <= 1'b1;
        unique case (op)
          OpLookup: value_q <= {rsp_hit, 3'd0, rsp_first[ClassWidth-1:0],
                                rsp_second[SizeWidth-1:0]};
          OpPop: begin
            value_q <= rsp_first;
            next_q  <= rsp_second;
          end
          OpSample: value_q <= Xlen'(rsp_hit);
          default:  value_q <= '0;
        endcase
      end
    end
  end

  assign ready_o     = answer_q;
  assign wr_o        = answer_q && write_q;
  assign rd_o        = value_q;
  assign wait_o      = ours && (legal || is_next);
  assign violation_o = rsp_valid && rsp_violation;

endmodule
